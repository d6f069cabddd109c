# SPDX-License-Identifier: Apache-2.0
# complete.zsh - what zsh offers where someone presses the tabulator: zsh -f complete.zsh FOLDER "LINE"
#
# Starts an interactive zsh on a terminal of its own that has FOLDER among its folders of functions, types the line and
# the tabulator, and prints each word that completion found as "offer WORD". Ends with status 3 when that zsh says
# nothing within a minute.
zmodload zsh/zpty || exit 3
folder=$1
line=$2
zpty shell zsh -f -i
zpty -w shell "PROMPT= PS2= LISTMAX=10000 fpath=(${(q)folder} \$fpath); unsetopt zle_bracketed_paste 2>/dev/null; autoload -Uz compinit; compinit -u -D"
# Matches are printed instead of being put on the line. _describe asks compadd for arrays first: that is left to it.
zpty -w shell 'compadd() { if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return; fi
typeset -a found; builtin compadd -A found "$@"; (( $#found )) && print -rl -- "offer "${^found}; builtin compadd "$@"; }'
zpty -w shell 'finish() { print -r -- "all ""offered"; exit }; zle -N finish; bindkey "^I" complete-word "^X^D" finish; zstyle ":completion:*" verbose no'
zpty -w shell 'print -r -- rea""dy'

# Waits for a line; prints the offers up to it.
await()
{
	local text stop=$((SECONDS + 60))

	while ((SECONDS < stop)); do
		if zpty -r -t shell text; then
			text=${${text%$'\n'}%$'\r'}
			# Behind what the terminal echoes.
			[[ $text == *offer\ [^\"\$]* ]] && print -r -- "offer ${text##*offer }"
			[[ $text == *$1* ]] && return 0
		else
			sleep 0.05
		fi
	done
	return 1
}

await ready || exit 3
zpty -w -n shell "$line"$'\t'$'\x18\x04'
await "all offered" || exit 3
zpty -d shell
