# Completion of canceld for bash: its options, their values, then the server's command with its own completion.
# shellcheck shell=bash disable=SC2207

_canceld()
{
	local cur=${COMP_WORDS[COMP_CWORD]} option='' i=1 ended=no
	COMPREPLY=()
	# Bash splits words at = and : too, as in --grace=5s and tools/call:build=5m.
	while ((i < COMP_CWORD)); do
		option=${COMP_WORDS[i]}
		case $option in
		--)
			ended=yes
			((++i))
			break
			;;
		@valued_cases@)
			[[ ${COMP_WORDS[i + 1]} == = ]] && ((++i))
			((i += 2))
			;;
		-*) ((++i)) ;;
		*) break ;;
		esac
		while ((i < COMP_CWORD)) && [[ ${COMP_WORDS[i]} == [=:]* ]]; do
			((i += 2))
		done
	done
	[[ $cur == = ]] && cur=
	if ((i > COMP_CWORD)); then
		case $option in
		@choice_cases@@file_cases@)
			local IFS=$'\n'
			compopt -o filenames 2>/dev/null
			COMPREPLY=($(compgen -f -- "$cur"))
			;;
		esac
	elif ((i < COMP_CWORD)) && declare -F _command_offset >/dev/null; then
		_command_offset "$i"
	elif ((i < COMP_CWORD)); then
		local IFS=$'\n'
		compopt -o filenames 2>/dev/null
		COMPREPLY=($(compgen -f -- "$cur"))
	elif [[ $ended == no && $cur == -* ]]; then
		COMPREPLY=($(compgen -W '@words@' -- "$cur"))
	else
		COMPREPLY=($(compgen -c -- "$cur"))
	fi
}

complete -F _canceld canceld
