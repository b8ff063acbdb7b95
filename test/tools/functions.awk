# Usage: { nm -A -P OBJECT...; objdump -dr OBJECT...; } | awk -v root=build/floors/obj/src/ -f functions.awk
# Reads objects made with -O0 -ffunction-sections: every call of another function has a relocation, and a call
# without one is of the function itself. Prints "call FILE:FUNCTION FILE:FUNCTION" for each call within the program, "pointer
# FILE:FUNCTION" for each call through a pointer. Callbacks from libev or the C library are not seen.

function file_of(object)
{
	sub(/:$/, "", object)
	sub(/\.o$/, ".c", object)
	return substr(object, length(root) + 1)
}

function flush()
{
	if (target == "")
		return
	if ((file, target) in defined)
		print "call", caller, file ":" target
	else if (target in home)
		print "call", caller, home[target] ":" target
	target = ""
}

# nm: "OBJECT: NAME TYPE VALUE SIZE"
/^[^ \t]*\.o: [^ ]+ [A-Za-z]( |$)/ {
	if ($3 ~ /[TtWw]/ && NF > 3)
		defined[file_of($1), $2]
	if ($3 ~ /[TW]/)
		home[$2] = file_of($1)
	next
}

/file format/ { flush(); file = file_of($1); next }

/^[0-9a-f]+ <.*>:$/ { flush(); name = substr($2, 2, length($2) - 3); caller = file ":" name; next }

/^[ \t]*[0-9a-f]+:[ \t]+R_/ {
	if (target != "") {
		target = $3
		sub(/[-+]0x[0-9a-f]+$/, "", target)
		sub(/^\.text\./, "", target)
		flush()
	}
	next
}

/^[ \t]*[0-9a-f]+:/ {
	flush()
	if ($0 ~ /[ \t](callq?[ \t]+\*|blr[ \t])/)
		print "pointer", caller
	else if ($0 ~ /[ \t](callq?|bl)[ \t]/)
		target = name
}

END { flush() }
