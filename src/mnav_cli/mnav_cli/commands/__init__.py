"""One module per command; see mnav_cli.registry."""
