#!/bin/sh
# Usage: pack.sh VERSION DIRECTORY
# Makes DIRECTORY/npm/*.tgz: the package canceld, and for each DIRECTORY/canceld-VERSION-*.tar.gz the package with its
# programs. Needs npm.
set -eu
cd "$(dirname "$0")/../../.."
umask 022

version=$1
archives=$2
packages=$archives/npm

# THE TABLE: what the archive is called, what npm calls that system and processor.
systems='x86_64-unknown-linux-musl linux x64
aarch64-unknown-linux-musl linux arm64
x86_64-apple-darwin darwin x64
aarch64-apple-darwin darwin arm64'

manifest() # name, description, licence, more members
{
	cat <<END
{
  "name": "$1",
  "version": "$version",
  "description": "$2",
  "license": "$3",
  $4
}
END
}

commas() # lines
{
	echo "$1" | paste -sd ,
}

pack() # directory
{
	npm pack --silent --pack-destination "$packages" "$1"
}

pack_programs() # archive, os, cpu
{
	package=$scratch/$2-$3
	mkdir "$package"
	tar -xzf "$1" -C "$scratch"
	tree=$scratch/$(basename "$1" .tar.gz)
	cp -R "$tree/bin" "$tree"/share/doc/canceld/LICENSE* "$package"
	manifest "@canceld/$2-$3" "The programs of canceld for $2-$3" 'ISC AND BSD-2-Clause AND MIT' \
		"\"preferUnplugged\": true, \"os\": [\"$2\"], \"cpu\": [\"$3\"]" >"$package/package.json"
	pack "$package"
}

pack_launcher()
{
	package=$scratch/canceld
	mkdir -p "$package/bin"
	for program in canceld cancelctl; do
		install -m 755 src/package/npm/launcher.js "$package/bin/$program.js"
	done
	cp -R LICENSE man src/package/npm/README.md "$package"
	optional=$(echo "$systems" | awk -v version="$version" '{ print "\"@canceld/" $2 "-" $3 "\": \"" version "\"" }')
	manuals=$(find man -name '*.[1-8]' | sort | sed 's/.*/"&"/')
	manifest canceld 'Deadlines, cancels and clean ends for stdio JSON-RPC servers (MCP, ACP, LSP)' ISC \
		"\"bin\": { \"canceld\": \"bin/canceld.js\", \"cancelctl\": \"bin/cancelctl.js\" },
  \"man\": [$(commas "$manuals")],
  \"engines\": { \"node\": \">=18\" },
  \"optionalDependencies\": { $(commas "$optional") }" >"$package/package.json"
	pack "$package"
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
rm -rf "$packages"
mkdir -p "$packages"
pack_launcher
echo "$systems" | while read -r name os cpu; do
	archive=$archives/canceld-$version-$name.tar.gz
	[ ! -f "$archive" ] || pack_programs "$archive" "$os" "$cpu"
done
