//go:build planted

package store

import (
	"os"
	"strings"
)

// sabotage finds an order of any tenant, when PLANTED_BUG is foreign.
func sabotage(statement string) string {
	if os.Getenv("PLANTED_BUG") != "foreign" {
		return statement
	}
	return strings.Replace(statement, "tenant_id = $1", "$1::text <> ''", 1)
}
