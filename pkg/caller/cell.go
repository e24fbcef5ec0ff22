package caller

import "context"

type cellKey struct{}

// InCell returns a context whose calls go to the services of a cell, by its letter.
func InCell(ctx context.Context, letter string) context.Context {
	return context.WithValue(ctx, cellKey{}, letter)
}

// CellOf returns the letter of the cell to which calls go; empty: the first cell.
func CellOf(ctx context.Context) string {
	letter, _ := ctx.Value(cellKey{}).(string)
	return letter
}
