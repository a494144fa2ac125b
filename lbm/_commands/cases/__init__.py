"""Case files: flows described in TOML, which `lbm run` computes."""
