package settings

// Defaults fills the zero fields of cfg, a pointer to a struct, with the defaults of their tags, for a configuration that
// was not read by Load. A number whose own check allows zero keeps it: there, zero is a value.
func Defaults(cfg any) error {
	w, err := walk(cfg)
	if err != nil {
		return err
	}
	for _, f := range w.fields {
		if f.Default == "" || !f.into.IsZero() || f.takesZero() {
			continue
		}
		if err := parse(f.into, f.Default); err != nil {
			return &VariableError{Variable: f.Variable, Err: err}
		}
	}
	return nil
}

func (f Field) takesZero() bool {
	for _, r := range f.rules {
		if !f.into.CanInt() || r.check(f.into, "0") != nil {
			return false
		}
	}
	return len(f.rules) > 0
}
