# Usage: awk -v sum=LINES -v pages='PAGE LINES...' [-v check=--check] -f weight.awk FILE...; see weight.sh.

function row_of(file)
{
	if (file ~ /^test\//)
		return "tests"
	if (file ~ /^(src|include)\/package\//)
		return "package"
	return file ~ /^(src|include)\/(core|shell)\// || file == "src/canceld.c" ? "core, shell" : "cancelctl"
}

# The line without comments, each string and character in it as one letter.
function code_of(line,    result, at, sign)
{
	if (!in_comment && line !~ /["'\/]/)
		return line
	for (;;) {
		if (in_comment) {
			at = index(line, "*/")
			if (at == 0)
				return result
			in_comment = 0
			line = substr(line, at + 2)
		}
		if (!match(line, /"([^"\\]|\\.)*"|'([^'\\]|\\.)*'|\/\*|\/\//))
			return result line
		sign = substr(line, RSTART, 2)
		result = result substr(line, 1, RSTART - 1) " "
		if (sign == "//")
			return result
		if (sign == "/*")
			in_comment = 1
		else
			result = result "s "
		line = substr(line, RSTART + RLENGTH)
	}
}

# Names and numbers first, then the longest signs.
function count_tokens(code,    count)
{
	sub(/\\$/, "", code)
	count = gsub(/[A-Za-z_][A-Za-z_0-9]*|[0-9][A-Za-z_0-9.]*/, " ", code)
	count += gsub(/\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|##|[-+*\/%&|^<>=!]=|&&|\|\|/, " ", code)
	return count + gsub(/[^ \t]/, "", code)
}

# The value below which a share of the row's functions lies.
function quantile(row, share,    rest, size)
{
	rest = int(share * functions[row] + 0.999)
	for (size = 0; size < longest[row]; size++)
		if ((rest -= of_size[row, size]) <= 0)
			break
	return size
}

function share(part, whole)
{
	return whole ? sprintf("%.1f", 100 * part / whole) : "-"
}

function beside(value, limit)
{
	over += value > limit
	return sprintf("%d of %d%s", value, limit, value > limit ? " !" : "")
}

function print_row(row, name, token_limit)
{
	if (lines[row] == 0)
		return
	printf format "\n", name, lines[row], token_limit ? beside(tokens[row], token_limit) : tokens[row] + 0, \
		functions[row] + 0, quantile(row, 0.5), quantile(row, 0.9), longest[row] + 0, share(blank[row], lines[row]), share(comments[row], lines[row])
}

# Adds a line that was counted in one row to another.
function also(to)
{
	lines[to]++
	blank[to] += is_blank
	comments[to] += is_comment
	tokens[to] += now
}

function end_function(row, size)
{
	functions[row]++
	of_size[row, size]++
	if (size > longest[row])
		longest[row] = size
}

FNR == 1 {
	row = row_of(FILENAME)
	is_c = FILENAME ~ /\.[ch]$/
	is_source = row != "tests"
	is_header = is_source && FILENAME ~ /\.h$/
	headers += is_header
	part = FILENAME ~ /core\// ? "core" : FILENAME ~ /ctl\// ? "ctl" : FILENAME ~ /shell\/system/ ? "system" : "shell"
	in_comment = start = in_table = 0
}

{
	is_blank = $0 ~ /^[ \t\r]*$/
	is_comment = now = 0
	if (is_c && !is_blank) {
		code = code_of($0)
		is_comment = code ~ /^[ \t]*$/
		if (is_source && code !~ /^#(include|pragma) /)
			now = count_tokens(code)
	}
	also(row)
	if (is_source && row != "package") {
		if (is_header)
			also("headers")
		if (row == "core, shell")
			also("in " part)
	}
}

is_c && /^\{/ { start = FNR; table_lines = 0 }
start && /^\tstatic const .*= \{$/ { in_table = 1 }
in_table { table_lines++ }
/^\t\};/ { in_table = 0 }
start && /^\}/ {
	end_function(row, FNR - start - 1 - table_lines)
	if (row == "core, shell")
		end_function("in " part, FNR - start - 1 - table_lines)
	start = 0
}

END {
	format = "%-13s %7s %18s %9s %6s %5s %5s %8s %9s"
	printf format "\n", "", "lines", "tokens", "functions", "median", "90 %", "most", "blank %", "comment %"
	print_row("core, shell", "core, shell", 129230)
	print_row("in core", "  core")
	print_row("in shell", "  shell")
	print_row("in system", "  system")
	print_row("cancelctl", "cancelctl", 75903)
	print_row("headers", "(headers)")
	print_row("package", "package")
	print_row("tests", "tests")
	printf "headers: %d; files under src and include: %d lines\n", headers, sum
	if (lines["core, shell"] + lines["cancelctl"] + lines["package"] != sum) {
		print "the rows are not the sum of the files"
		exit 1
	}
	count = split(pages, page, /[ \n]/)
	for (i = 1; i < count; i += 2)
		printf "%s: %d lines%s", page[i], page[i + 1], i + 1 < count ? ", " : "\n"
	if (check != "" && over)
		printf "weight: %d limits exceeded\n", over
	exit check != "" && over > 0
}
