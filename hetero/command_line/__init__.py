"""The conventions that the commands of all packages share.

A command prints its result on standard output, and everything else on standard error. It ends with
the exit code 0 if its result stands, 1 if the computation failed or a tested library is wrong, 2
for wrong usage, bad input and files that cannot be read or written, 130 after Ctrl-C, 141 if the
reader of its output has gone.
"""

from hetero.command_line.figure_files import save_figure as save_figure
from hetero.command_line.options import add_common_options as add_common_options
from hetero.command_line.options import add_layout_options as add_layout_options
from hetero.command_line.options import add_out_option as add_out_option
from hetero.command_line.options import add_plot_option as add_plot_option
from hetero.command_line.options import check_device as check_device
from hetero.command_line.options import check_outputs as check_outputs
from hetero.command_line.output_files import print_json as print_json
from hetero.command_line.output_files import save_output as save_output
from hetero.command_line.parsers import CommandParser as CommandParser
from hetero.command_line.parsers import command_parser as command_parser
from hetero.command_line.parsers import whole_number as whole_number
from hetero.command_line.running import FAILED as FAILED
from hetero.command_line.running import MISTAKEN as MISTAKEN
from hetero.command_line.running import ComputationFailedError as ComputationFailedError
from hetero.command_line.running import run_command as run_command
