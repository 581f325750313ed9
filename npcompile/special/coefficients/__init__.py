"""Constants of the special functions, one module a family, written by the scripts in tools/."""
