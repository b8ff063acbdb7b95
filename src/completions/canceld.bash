# Completion of canceld for bash: its options, as canceld itself tells them, their values, then the server's command
# with its own completion.
# shellcheck shell=bash disable=SC2207

_canceld()
{
	local cur=${COMP_WORDS[COMP_CWORD]} option value='' i=1 ended=no options
	COMPREPLY=()
	# A line for each spelling, with the value behind it: "-l FILE", "--log FILE", "--drain[=DURATION]".
	options=$'\n'$(canceld --help 2>/dev/null | sed -nE \
		'h; s/^  (-[A-Za-z]), --[a-z-]+/\1/p; g; s/^ +(-[A-Za-z], )?(--?[A-Za-z])/\2/p')
	# Bash splits words at = and : too, as in --grace=5s and tools/call:build=5m.
	while ((i < COMP_CWORD)) && [[ ${COMP_WORDS[i]} == -* ]]; do
		option=${COMP_WORDS[i++]}
		if [[ $option == -- ]]; then
			ended=yes
			break
		fi
		value=${options#*$'\n'"$option "}
		value=${value%%[$' \n']*}
		if [[ -n $value ]]; then
			[[ ${COMP_WORDS[i]} == = ]] && ((++i))
			((++i))
		fi
		while ((i < COMP_CWORD)) && [[ ${COMP_WORDS[i]} == [=:]* ]]; do
			((i += 2))
		done
	done
	[[ $cur == = ]] && cur=
	if ((i > COMP_CWORD)) && [[ $value == *'|'* ]]; then
		COMPREPLY=($(compgen -W "${value//|/ }" -- "$cur"))
	elif ((i < COMP_CWORD)) && declare -F _command_offset >/dev/null; then
		_command_offset "$i"
	elif ((i < COMP_CWORD)) || [[ $value == @(FILE|PATH) && $i -gt $COMP_CWORD ]]; then
		local IFS=$'\n'
		compopt -o filenames 2>/dev/null
		COMPREPLY=($(compgen -f -- "$cur"))
	elif ((i > COMP_CWORD)); then
		:
	elif [[ $ended == no && $cur == -* ]]; then
		COMPREPLY=($(compgen -W "$(grep -oE '^-[A-Za-z-]+' <<<"$options")" -- "$cur"))
	else
		COMPREPLY=($(compgen -c -- "$cur"))
	fi
}

complete -F _canceld canceld
