#!/bin/sh
# Usage: completions.sh BUILD
# Asks each shell that is installed to complete command lines of canceld and cancelctl, with the files in
# src/completions and the programs in BUILD. A shell that is missing is skipped.
# shellcheck disable=SC2016 # the scripts of the shells
set -eu

build=$(cd "$1" && pwd)
completions=$(cd "$(dirname "$0")/../../src/completions" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

LIMIT=60 # seconds for all that one shell does: far more than it takes

mkdir "$scratch/bin" "$scratch/home"
printf '#!/bin/sh\n' >"$scratch/bin/unmistakable-server"
chmod +x "$scratch/bin/unmistakable-server"
: >"$scratch/unmistakable file"

# Beside the real one, a cancelctl that is sure to have an option, and two canceld, a request and two servers to show.
mkdir "$scratch/shown"
cat >"$scratch/shown/cancelctl" <<'END'
#!/bin/sh
case "$*" in
'cancel --help') printf 'usage: cancelctl cancel [-a] PID|NAME ID\n\n  -r, --reason TEXT   told to both\n' ;;
'call --help') printf 'usage: cancelctl call CLIENT:SERVER TOOL\n' ;;
'wrap --help') printf 'usage: cancelctl wrap [CLIENT|FILE] [SERVER...]\n' ;;
'ls --json weather') echo '{"pid":4711,"server":"weather","id":"77","serial":2,"name":"echo"}'
	echo '{"pid":4711,"server":"weather","id":"\"$(touch hostile)\"","serial":3}' ;;
'wrap --list --json') echo '{"client":"cursor","file":"/a \"b","server":"weather","state":"not wrapped"}'
	echo '{"client":"zed","file":"/z","server":"wea $(touch hostile)","state":"wrapped"}' ;;
'trace --help') printf 'usage: cancelctl trace FILE...\n       cancelctl trace --follow [PID|NAME]\n' ;;
'ls --json') echo '{"pid": 4711, "name": "weather", "command": ["a", "{"], "client": {"pid": 1, "name": "editor"}}'
	echo '{"client":{"pid":2,"name":"editor"},"name":"wea $(touch hostile)","pid":4712}' ;;
esac
END
chmod +x "$scratch/shown/cancelctl"
real=$scratch/bin:$build:$PATH
shown=$scratch/shown:$scratch/bin:$build:$PATH
PATH=$real
HOME=$scratch/home
export PATH HOME completions
cd "$scratch"

expect() # shell, what was typed, what must have come, what came
{
	case "
$4
" in
	*"
$3
"*) ;;
	*)
		printf 'completions: %s: %s: wanted %s, got:\n%s\n' "$1" "$2" "$3" "$4" | head -40
		failed=1
		;;
	esac
}

# The words are as bash splits them; the last one is at the cursor. Prints what it offers.
ask_bash() # words...
{
	timeout "$LIMIT" bash --norc --noprofile -c '
		. "$completions/$1.bash"
		COMP_WORDS=("$@")
		COMP_CWORD=$(($# - 1))
		"_$1" "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
		printf "%s\n" "${COMPREPLY[@]}"
	' bash "$@"
}

check_bash()
{
	expect bash 'canceld --dia' --dialect "$(ask_bash canceld --dia)"
	expect bash 'canceld -v --time' --timeout "$(ask_bash canceld -v --time)"
	expect bash 'canceld -D l' lsp "$(ask_bash canceld -D l)"
	expect bash 'canceld --dialect=' acp "$(ask_bash canceld --dialect =)"
	expect bash 'canceld --dialect=a' acp "$(ask_bash canceld --dialect = a)"
	expect bash 'canceld --sweep g' group "$(ask_bash canceld --sweep g)"
	expect bash 'canceld -l unm' 'unmistakable file' "$(ask_bash canceld -l unm)"
	expect bash 'canceld unmis' unmistakable-server "$(ask_bash canceld unmis)"
	expect bash 'canceld -- unmis' unmistakable-server "$(ask_bash canceld -- unmis)"
	expect bash 'canceld -t a:b=5m -r unmis' unmistakable-server "$(ask_bash canceld -t a : b = 5m -r unmis)"
	expect bash 'canceld --grace=5s --restart=5/1m unmis' unmistakable-server \
		"$(ask_bash canceld --grace = 5s --restart = 5/1m unmis)"
	expect bash 'canceld server unmis' 'unmistakable file' "$(ask_bash canceld server unmis)"
	expect bash 'canceld -g 5' '' "$(ask_bash canceld -g 5)"
	expect bash 'cancelctl vers' version "$(ask_bash cancelctl vers)"
	expect bash 'cancelctl wrap unm' 'unmistakable file' "$(ask_bash cancelctl wrap unm)"
	expect bash 'cancelctl ca' call "$(ask_bash cancelctl ca)"
	expect bash 'cancelctl call --l' --list "$(ask_bash cancelctl call --l)"
	PATH=$shown
	expect bash 'cancelctl cancel --re' --reason "$(ask_bash cancelctl cancel --re)"
	expect bash 'cancelctl cancel -' -a "$(ask_bash cancelctl cancel -)"
	expect bash 'cancelctl cancel we' weather "$(ask_bash cancelctl cancel we)"
	expect bash 'cancelctl cancel weather ""' 77 "$(ask_bash cancelctl cancel weather '')"
	expect bash 'cancelctl call cu' cursor:weather "$(ask_bash cancelctl call cu)"
	expect bash 'cancelctl call cursor:' weather "$(ask_bash cancelctl call cursor :)"
	expect bash 'cancelctl call cursor:we' weather "$(ask_bash cancelctl call cursor : we)"
	expect bash 'cancelctl call ./x/y:' 0 "$(ask_bash cancelctl call ./x/y : 2>&1 | grep -c sed:)"
	expect bash 'cancelctl call .*:we' '' "$(ask_bash cancelctl call '.*' : we 2>&1)"
	expect bash 'cancelctl wrap cu' cursor "$(ask_bash cancelctl wrap cu)"
	expect bash 'cancelctl wrap cursor we' weather "$(ask_bash cancelctl wrap cursor we)"
	expect bash 'cancelctl trace we' weather "$(ask_bash cancelctl trace we)"
	expect bash 'cancelctl trace unm' 'unmistakable file' "$(ask_bash cancelctl trace unm)"
	expect bash 'cancelctl cancel ""' '4711
weather
4712' "$(ask_bash cancelctl cancel '')"
	PATH=$real
}

# Types lines, with \t for the key, into an interactive zsh in which canceld prints its arguments; prints these.
ask_zsh() # lines...
{
	timeout "$LIMIT" zsh -f -c '
		zmodload zsh/zpty
		zpty shell zsh -f -i
		zpty -w shell "PS1= PS2= fpath=($completions \$fpath); autoload -U compinit; compinit -u -D"
		zpty -w shell "zstyle \":completion:*\" insert-tab false; bindkey \"^I\" complete-word; unsetopt beep"
		zpty -w shell "show() { print -r -- \"<\"\"<\${(j:|:)@}>\"\">\" }; canceld() { case \"\$*\" in *--help) command canceld \$@ ;; *) show \$@ ;; esac }"
		zpty -w shell "cancelctl() { case \"\$*\" in help | *--help | *--json*) command cancelctl \$@ ;; *) show \$@ ;; esac }"
		for line; do
			zpty -w shell "${(g::)line}"
			zpty -r -m shell answer "*<<*>>*"
			print -r -- "${${answer##*<<}%%>>*}"
		done
		zpty -d shell
	' zsh "$@"
}

check_zsh()
{
	answers=$(ask_zsh 'canceld --dia\tl\t' 'canceld -D ac\t' 'canceld -l unm\t' 'canceld -t 5s -r unmist\t' \
		'canceld cat unm\t' 'cancelctl vers\t')
	PATH=$shown
	answers=$answers$(echo && ask_zsh 'cancelctl cancel --re\t' 'cancelctl cancel we\t' \
		'cancelctl trace we\t' 'cancelctl trace unm\t' 'cancelctl cancel weather 7\t' 'cancelctl call cu\t' \
		'cancelctl wrap cu\t')
	PATH=$real
	for answer in 'cancel|weather|77' 'call|cursor:weather' 'wrap|cursor' 'cancel|--reason' 'cancel|weather' 'trace|weather' 'trace|unmistakable file' '--dialect=lsp' '-D|acp' '-l|unmistakable file' '-t|5s|-r|unmistakable-server' \
		'cat|unmistakable file' 'version'; do
		expect zsh 'lines with a tab' "$answer" "$answers"
	done
}

# Prints what it offers, without the descriptions.
ask_fish() # line
{
	timeout "$LIMIT" fish --no-config -c '
		for file in $completions/*.fish
			source $file
		end
		complete -C $argv[1]
	' "$1" | cut -f 1
}

check_fish()
{
	expect fish 'canceld --dia' --dialect "$(ask_fish 'canceld --dia')"
	expect fish 'canceld -D l' lsp "$(ask_fish 'canceld -D l')"
	expect fish 'canceld --dialect=a' '--dialect=acp' "$(ask_fish 'canceld --dialect=a')"
	expect fish 'canceld -l unm' 'unmistakable file' "$(ask_fish 'canceld -l unm')"
	expect fish 'canceld -t 5s -r unmist' unmistakable-server "$(ask_fish 'canceld -t 5s -r unmist')"
	expect fish 'canceld cat --dia' '' "$(ask_fish 'canceld cat --dia')"
	expect fish 'cancelctl vers' version "$(ask_fish 'cancelctl vers')"
	PATH=$shown
	expect fish 'cancelctl cancel --re' --reason "$(ask_fish 'cancelctl cancel --re')"
	expect fish 'cancelctl cancel we' weather "$(ask_fish 'cancelctl cancel we')"
	expect fish 'cancelctl cancel weather 7' 77 "$(ask_fish 'cancelctl cancel weather 7')"
	expect fish 'cancelctl call cu' cursor:weather "$(ask_fish 'cancelctl call cu')"
	expect fish 'cancelctl wrap cu' cursor "$(ask_fish 'cancelctl wrap cu')"
	expect fish 'cancelctl trace we' weather "$(ask_fish 'cancelctl trace we')"
	expect fish 'cancelctl trace unm' 'unmistakable file' "$(ask_fish 'cancelctl trace unm')"
	PATH=$real
}

check() # shell
{
	if ! command -v "$1" >/dev/null; then
		echo "completions: $1 is not installed: skipped"
		return
	fi
	case $1 in
	bash) check_bash ;;
	zsh) check_zsh ;;
	fish) check_fish ;;
	esac
	echo "completions: $1: checked"
}

check bash
check zsh
check fish
# A name must not be run.
[ ! -e hostile ] || failed=1
exit $failed
