package store

import (
	"strconv"
	"strings"
)

// statement reads gifts as all tenants see them. In the sandbox it reads them as its tenant sees them, with what the tenant has
// changed there. The tenant is then the last argument.
type statement struct {
	shared, ofTenant string
}

// reading makes a statement from a text in which {gifts} names the gifts. arguments is the number of its arguments.
func reading(text string, arguments int) statement {
	return statement{
		shared:   strings.ReplaceAll(text, "{gifts}", "products"),
		ofTenant: strings.ReplaceAll(text, "{gifts}", "sandbox_gifts($"+strconv.Itoa(arguments+1)+")"),
	}
}

// of returns the text and the arguments of the statement for readers of the tenant.
func (s *Store) of(tenantID string, st statement, args ...any) (string, []any) {
	if !s.sandbox {
		return st.shared, args
	}
	return st.ofTenant, append(args, tenantID)
}
