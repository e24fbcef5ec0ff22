package postgres

// Column returns one value of each row, as a parameter of a statement that unnests arrays.
func Column[R, V any](rows []R, value func(row R) V) []V {
	column := make([]V, len(rows))
	for i, row := range rows {
		column[i] = value(row)
	}
	return column
}

// UUIDColumn is Column for ids.
func UUIDColumn[R any](rows []R, id func(row R) string) UUIDs { return Column(rows, id) }
