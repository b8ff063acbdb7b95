# Completion of cancelctl for bash. cancelctl itself tells its commands and their options.
# shellcheck shell=bash disable=SC2207

_cancelctl()
{
	local cur=${COMP_WORDS[COMP_CWORD]}
	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		COMPREPLY=($(compgen -W "$("$1" help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\).*/\1/p')" -- "$cur"))
	elif [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "$("$1" "${COMP_WORDS[1]}" --help 2>/dev/null </dev/null |
			grep -oE '(^|[[ ,|(])--?[a-zA-Z][a-z-]*' | tr -d '[ ,|(')" -- "$cur"))
	else
		local IFS=$'\n'
		compopt -o filenames 2>/dev/null
		COMPREPLY=($(compgen -f -- "$cur"))
	fi
}

complete -F _cancelctl cancelctl
