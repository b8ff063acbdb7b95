# Usage: awk -f length.awk FILE...
# Fails for a function of more than 60 lines and for a file of src/core of more than 800. A function is the text between
# "{" and "}" in the first column, except const tables.

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
	if (file ~ /^src\/core\// && lines > 800) {
		print file ": " lines " lines; 800 are enough"
		failed = 1
	}
}

FNR == 1 {
	if (file != "")
		end_of_file()
	file = FILENAME
	start = in_table = 0
}

{ lines = FNR }

/^[A-Za-z_].*\(/ { name = $0; sub(/\(.*/, "", name); sub(/^.*[ *]/, "", name) }

/^START_TEST\(/ { name = $0; sub(/^START_TEST\(/, "", name); sub(/\).*/, "", name) }

/^\{/ { start = FNR; table_lines = 0 }

start && /^\tstatic const .*= \{$/ { in_table = 1 }

in_table { table_lines++ }

/^\t\};/ { in_table = 0 }

/^\}/ && start {
	size = FNR - start - 1 - table_lines
	start = 0
	if (size > 60) {
		print FILENAME ":" FNR ": " name " has " size " lines; 60 are enough"
		failed = 1
	}
	if (FILENAME ~ /^src\//) {
		sizes[++functions] = size
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
		printf "%d lines of source and headers, %d of tests; %d functions: median %d lines, 90 %% up to %d, " \
			"longest %d (%s)\n", source_lines, test_lines, functions, sizes[int((functions + 1) / 2)],
			sizes[int((9 * functions + 9) / 10)], longest, longest_name
	exit failed
}
