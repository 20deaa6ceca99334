package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

func (r *results) write(out io.Writer, format string) error {
	switch format {
	case "json":
		return r.writeJSON(out)
	case "markdown":
		return r.writeMarkdown(out)
	}
	return r.writeText(out)
}

// text is "20 [10–60]". Thousands are parted.
func (s spread) text(digits int) string {
	if s.Min == s.Max {
		return number(s.Median, digits)
	}
	return fmt.Sprintf("%s [%s–%s]", number(s.Median, digits), number(s.Min, digits), number(s.Max, digits))
}

func number(x float64, digits int) string {
	s := strconv.FormatFloat(x, 'f', digits, 64)
	whole, rest, _ := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0 && whole[i-1] != '-'; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if rest != "" {
		whole += "." + rest
	}
	return whole
}

// head tells what was measured and where, in lines.
func (r *results) head() []string {
	what := fmt.Sprintf("%s: ", r.bench.name)
	if r.opts.jobs > 0 {
		what += number(float64(r.opts.jobs), 0) + " jobs, "
	}
	if r.bench.name == "steady" {
		what += fmt.Sprintf("%v, ", r.opts.span)
	}
	if r.bench.scale {
		what += sizesOf(r.opts).String() + ", "
	}
	var where []string
	for _, k := range slices.Sorted(maps.Keys(r.where)) {
		where = append(where, k+" "+r.where[k])
	}
	return append([]string{fmt.Sprintf("%s%d runs in turn; median [min–max]", what, r.opts.runs), strings.Join(where, "; ")}, r.leftOut...)
}

func (r *results) writeText(out io.Writer) error {
	fmt.Fprintf(out, "%s\n\n", strings.Join(r.head(), "\n"))
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	than := ""
	if r.bench.peer != "" {
		than = "÷ " + r.bench.peer
	}
	fmt.Fprintf(t, "figure\tsystem\tvalue\t%s\n", than)
	for _, w := range r.rows() {
		ratio := ""
		if w.Ratio != nil {
			ratio = w.Ratio.text(2)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", w.Figure, w.System, w.Value.text(w.digits), ratio)
	}
	for _, c := range r.comparisons() {
		fmt.Fprintf(t, "%s\t%s\t\t%s of %s\n", c.Figure, c.System, c.Ratio.text(2), c.Than)
	}
	return t.Flush()
}

// writeMarkdown writes tables as docs/benchmarks.md has them. What there is more
// of, figures or systems, are the rows. A ratio stands behind its value.
func (r *results) writeMarkdown(out io.Writer) error {
	head := r.head()
	fmt.Fprintf(out, "**%s**\n\n%s\n\n", head[0], strings.Join(head[1:], "  \n"))
	cell := func(f figure, s system) string {
		w := r.row(f, s)
		if w == nil {
			return ""
		}
		text := w.Value.text(w.digits)
		if w.Ratio != nil {
			text += " · **" + w.Ratio.text(2) + "**"
		}
		return text
	}
	corner := ""
	if r.bench.peer != "" {
		corner = "**÷ " + r.bench.peer + "**"
	}
	table := [][]string{{corner}}
	if len(r.systems) >= len(r.bench.figures) {
		for _, f := range r.bench.figures {
			table[0] = append(table[0], f.name)
		}
		for _, s := range r.systems {
			line := []string{s.name}
			for _, f := range r.bench.figures {
				line = append(line, cell(f, s))
			}
			table = append(table, line)
		}
	} else {
		for _, s := range r.systems {
			table[0] = append(table[0], s.name)
		}
		for _, f := range r.bench.figures {
			line := []string{f.name}
			for _, s := range r.systems {
				line = append(line, cell(f, s))
			}
			table = append(table, line)
		}
	}
	writeTable(out, table)
	if all := r.comparisons(); len(all) > 0 {
		table = [][]string{{all[0].Figure + ": " + all[0].System + " ÷"}, {""}}
		for _, c := range all {
			table[0], table[1] = append(table[0], c.Than), append(table[1], c.Ratio.text(2))
		}
		writeTable(out, table)
	}
	return nil
}

// writeTable writes rows, of which the first is the heading.
func writeTable(out io.Writer, table [][]string) {
	for i, line := range table {
		fmt.Fprintf(out, "| %s |\n", strings.Join(line, " | "))
		if i == 0 {
			fmt.Fprintf(out, "|%s\n", strings.Repeat("---|", len(line)))
		}
	}
	fmt.Fprintln(out)
}
