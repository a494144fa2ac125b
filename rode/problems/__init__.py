"""Problems of users, frames and standard ones; checks and compilation of their functions."""
