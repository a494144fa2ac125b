"""Commands of the packages, called in this process."""


def call_main(main, capsys, *arguments):
    """Return exit code, standard output and standard error of a command's main function."""
    try:
        code = main([str(argument) for argument in arguments])
    except SystemExit as ended:
        code = ended.code
    return code, *capsys.readouterr()
