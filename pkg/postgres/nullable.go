package postgres

// Nullable returns a pointer to v for a column that may be NULL, nil for the zero value.
func Nullable[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// Value returns what p points to, the zero value for nil.
func Value[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}
