# Completion of cancelctl for bash. cancelctl itself tells its commands, their options, what runs, and the clients.
# shellcheck shell=bash disable=SC2207

# What runs; the ids of a request, behind a NAME; clients, and their servers. A bad name is none of these.
_cancelctl_words() # program, usage, the word before
{
	local json listed name='[A-Za-z0-9._@/+-]+'
	if [[ $2 == *'PID|NAME'* ]]; then
		json=$("$1" ls --json 2>/dev/null </dev/null | sed 's/^{//; s/{[^{}]*}//g')
		[[ ! $2 =~ \|(NAME|SOCKET)' ID' || $3 == -* ]] || listed=$("$1" ls --json "$3" 2>/dev/null </dev/null)
		if [[ $listed == *'"id"'* ]]; then
			grep -oE "\"id\": *\"$name\"" <<<"$listed"
		else
			grep -oE "\"pid\": *[0-9]+|\"name\": *\"$name\"" <<<"$json"
		fi | sed 's/.*: *//' | tr -d '"'
	elif [[ $2 == *CLIENT* ]]; then
		listed=$("$1" wrap --list --json 2>/dev/null </dev/null |
			sed -nE "s/^\{\"client\": *\"([a-z-]+)\".*\"server\": *\"($name)\".*/\1:\2/p")
		if [[ $2 == *CLIENT:SERVER* ]]; then
			printf '%s\n' "$listed"
		else
			tr : '\n' <<<"$listed"
		fi
	fi
}

# What stands behind CLIENT: in those of these lines that begin with it. It is what was typed, and no pattern.
_cancelctl_behind() # client, lines
{
	local line
	while read -r line; do
		[[ $line != "$1":* ]] || printf '%s\n' "${line#"$1":}"
	done <<<"$2"
}

_cancelctl()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} usage words
	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		COMPREPLY=($(compgen -W "$("$1" help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\).*/\1/p')" -- "$cur"))
		return
	fi
	usage=$("$1" "${COMP_WORDS[1]}" --help 2>/dev/null </dev/null)
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "$(grep -oE '(^|[[ ,|(])--?[a-zA-Z][a-z-]*' <<<"$usage" | tr -d '[ ,|(')" -- "$cur"))
	else
		words=$(_cancelctl_words "$1" "$usage" "$prev")
		# A colon is a word of its own.
		if [[ $cur == : ]]; then
			words=$(_cancelctl_behind "$prev" "$words") cur=
		elif [[ $prev == : ]]; then
			words=$(_cancelctl_behind "${COMP_WORDS[COMP_CWORD - 2]}" "$words")
		fi
		COMPREPLY=($(compgen -W "$words" -- "$cur"))
		[[ $usage != *'PID|NAME'* || $usage == *'FILE...'* ]] || return
		local IFS=$'\n'
		compopt -o filenames 2>/dev/null
		COMPREPLY+=($(compgen -f -- "$cur"))
	fi
}

complete -F _cancelctl cancelctl
