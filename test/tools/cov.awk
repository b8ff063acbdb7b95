# Reads `gcov -n`: prints the lines executed of every file of src, and of all of them together.

/^File '/ {
	file = $0
	sub(/^File '/, "", file)
	sub(/'$/, "", file)
}

/^Lines executed:/ && file ~ /^src\// {
	split($2, figure, "[:%]")
	count = $NF
	covered += figure[2] / 100 * count
	total += count
	printf "%6.2f %% of %5d  %s\n", figure[2], count, file
	file = ""
}

END {
	if (!total) {
		print "no coverage found"
		exit 1
	}
	printf "%6.2f %% of %5d  in all\n", 100 * covered / total, total
}
