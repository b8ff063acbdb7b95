# Usage: awk -f length.awk FILE...
# The house's figures. A function is what stands between "{" and "}" in the first column. Fails for a function
# above 60 lines anywhere, and for a .c file of src above 500.

function sort(list, count,    i, j, value)
{
	for (i = 2; i <= count; i++) {
		value = list[i]
		for (j = i - 1; j > 0 && list[j] > value; j--)
			list[j + 1] = list[j]
		list[j + 1] = value
	}
}

function end_of_file()
{
	if (file ~ /^(src|include)\//)
		source_lines += lines
	else
		test_lines += lines
	if (file !~ /^src\//)
		return
	if (lines > largest_file) {
		largest_file = lines
		largest_file_name = file
	}
	if (lines > 500) {
		print file ": " lines " lines; 500 are enough"
		failed = 1
	}
}

FNR == 1 {
	if (file != "")
		end_of_file()
	file = FILENAME
	start = 0
}

{ lines = FNR }

/^[A-Za-z_].*\(/ { name = $0; sub(/\(.*/, "", name); sub(/^.*[ *]/, "", name) }

/^START_TEST\(/ { name = $0; sub(/^START_TEST\(/, "", name); sub(/\).*/, "", name) }

/^\{/ { start = FNR }

/^\}/ && start {
	size = FNR - start - 1
	start = 0
	if (size > 60) {
		print FILENAME ":" FNR ": " name " has " size " lines; 60 are enough"
		failed = 1
	}
	if (FILENAME ~ /^src\//) {
		sizes[++functions] = size
		short += size < 35
		if (size > longest) {
			longest = size
			longest_name = name
		}
	}
}

END {
	if (file != "")
		end_of_file()
	sort(sizes, functions)
	if (functions)
		printf "%d functions: median %d lines, %d %% below 35, longest %d (%s); " \
			"largest file %d (%s); %d lines of source, %d of test\n",
			functions, sizes[int((functions + 1) / 2)], 100 * short / functions,
			longest, longest_name, largest_file, largest_file_name, source_lines, test_lines
	exit failed
}
