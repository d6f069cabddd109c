#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# help.sh - what the program's help says, as columns with tabs between them; sourced by the generators of the command
# reference, the manual pages and the completion. $passmith is the program.

# COMMAND, what it does.
help_commands()
{
	"$passmith" --help | awk '
		/^commands:/ { on = 1; next }
		/^$/ { on = 0 }
		on { name = $1; $1 = ""; sub(/^ /, ""); print name "\t" $0 }'
}

# CODE, meaning: of the program's exit codes.
help_exit_codes()
{
	"$passmith" --help | tr '\n' ' ' | sed 's/.*Exit codes: //; s/\. *$//; s/, */\n/g' |
		awk '{ code = $1; $1 = ""; sub(/^ /, ""); print code "\t" $0 }'
}

# OPTION, TEXT or N or X or nothing, a better word for the value or nothing, what it does: of a command whose help
# comes on standard input. "--table TEXT   FILE  take ..." has a better word.
help_options()
{
	sed -n '/^options:/,/^$/p' | awk '/^  -/ {
		option = $1
		value = match($0, /^  -[^ ]+ (TEXT|N|X)( |$)/) ? $2 : ""
		word = ""
		sub(/^  -[^ ]+ */, "")
		if (value != "")
			sub(/^[A-Z]+ */, "")
		if (match($0, /^[A-Z\/]+  /)) {
			word = substr($0, 1, RLENGTH - 2)
			$0 = substr($0, RLENGTH + 1)
		}
		print option "\t" value "\t" word "\t" $0 }'
}

# The same with an option and its value in one column: "--table FILE", what it does.
help_option_rows()
{
	help_options | awk -F '\t' '{ print $1 ($2 == "" ? "" : " " ($3 == "" ? $2 : $3)) "\t" $4 }'
}

# OPTION, what it does: of the options that every command takes.
help_common_options()
{
	"$passmith" doctor --help | help_option_rows | grep -E '^--(json|quiet|types TEXT)	'
}

# What the help says of old names of options: "--lane is --precision until version 0.4"; on standard input.
help_old_names()
{
	sed -n 's/^old name: //p'
}

# What exit code 1 of a command means, where it has a meaning of its own.
help_no()
{
	sed -n "s/^NO($1, \"\(.*\)\")\$/\1/p" cli/cmds.def
}
