# Completion of cancelctl for bash. cancelctl itself tells its commands, their options, and what runs.
# shellcheck shell=bash disable=SC2207

_cancelctl()
{
	local cur=${COMP_WORDS[COMP_CWORD]} usage
	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		COMPREPLY=($(compgen -W "$("$1" help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\).*/\1/p')" -- "$cur"))
		return
	fi
	usage=$("$1" "${COMP_WORDS[1]}" --help 2>/dev/null </dev/null)
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "$(grep -oE '(^|[[ ,|(])--?[a-zA-Z][a-z-]*' <<<"$usage" | tr -d '[ ,|(')" -- "$cur"))
	else
		[[ $usage != *'PID|NAME'* ]] ||
			COMPREPLY=($(compgen -W "$("$1" ls --json 2>/dev/null </dev/null | sed 's/^{//; s/{[^{}]*}//g' |
				grep -oE '"pid": *[0-9]+|"name": *"[A-Za-z0-9._@/+-]+"' | sed 's/.*: *//' | tr -d '"')" -- "$cur"))
		[[ $usage != *'PID|NAME'* || $usage == *'FILE...'* ]] || return
		local IFS=$'\n'
		compopt -o filenames 2>/dev/null
		COMPREPLY+=($(compgen -f -- "$cur"))
	fi
}

complete -F _cancelctl cancelctl
