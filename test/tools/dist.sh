#!/bin/sh
# Usage: dist.sh NAME DIRECTORY
# Writes DIRECTORY/NAME.tar.gz: the files committed to git, or, without git, the tree without build output.
set -eu

name=$1
archive=$2/$1.tar.gz
mkdir -p "$2"
if [ -e .git ]; then
	git archive --format=tar.gz --prefix="$name/" -o "$archive" HEAD
else
	scratch=$(mktemp -d)
	trap 'rm -rf "$scratch"' EXIT
	mkdir "$scratch/$name"
	tar -cf - --exclude="./$2" --exclude=./build --exclude=node_modules . | tar -xf - -C "$scratch/$name"
	tar -czf "$archive" -C "$scratch" "$name"
fi
echo "$archive"
