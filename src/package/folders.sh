#!/bin/sh
# Usage: folders.sh make|remove RECORD FOLDER...
# make: makes the folders and those above them, and notes in the file RECORD which of them were not there. remove: removes
# those of them that RECORD has, if they are empty, and forgets them: an empty folder of the system stays.
set -eu
action=$1 record=$2
shift 2

with_those_above() # FOLDER...: each once, the higher ones first
{
	for folder; do
		until [ "$folder" = / ] || [ "$folder" = . ]; do
			printf '%s\n' "$folder"
			folder=$(dirname "$folder")
		done
	done | tr -s / | LC_ALL=C sort -u
}

# A new file each time: the old one may be root's, from "sudo make install".
write_record()
{
	{ cat >"$record.new" && mv -f "$record.new" "$record"; } 2>/dev/null ||
		echo "folders: cannot write $record: make uninstall will leave the folders" >&2
}

# What could not be made may be made by others.
make_folders()
{
	status=0
	made=$(with_those_above "$@" | while IFS= read -r folder; do
		[ -d "$folder" ] || { mkdir -m 755 "$folder" && printf '%s\n' "$folder"; } || exit
	done) || status=$?
	[ -z "$made" ] || {
		cat "$record" 2>/dev/null || :
		printf '%s\n' "$made"
	} | write_record
	return "$status"
}

remove_folders()
{
	made=$(with_those_above "$@" | grep -xF -f "$record") || return 0
	printf '%s\n' "$made" | LC_ALL=C sort -r | while IFS= read -r folder; do
		rmdir "$folder" 2>/dev/null || :
	done
	grep -vxF -e "$made" "$record" | write_record
}

case $action in
make) make_folders "$@" ;;
remove) [ ! -s "$record" ] || remove_folders "$@" ;;
esac
