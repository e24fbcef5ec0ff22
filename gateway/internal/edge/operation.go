package edge

import (
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/partnergifting/platform/gateway/openapi"
	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/problem"
)

func (h *Handler) findOperation(c *call) error {
	var allowed []string
	// No id contains a slash or bytes that are not text.
	if utf8.ValidString(c.path) && !strings.Contains(strings.ToLower(c.r.URL.RawPath), "%2f") {
		c.op, allowed = h.Operations.Find(c.r.Method, c.path)
	}
	switch {
	case c.op != nil:
		c.route, c.path = c.op.Path, c.op.Canonical(c.path)
		if c.op.Sandbox != "" {
			c.Header().Set(sandboxHeader, c.op.Sandbox)
		}
		return nil
	case len(allowed) > 0:
		c.Header().Set("Allow", strings.Join(allowed, ", "))
		return problem.New(problem.MethodNotAllowed, "This path exists, but not with this method.")
	default:
		return problem.New(problem.NotFound, "There is no such path.")
	}
}

func (h *Handler) checkScope(c *call) error {
	if c.op.Scope != 0 && !c.principal.HasScope(c.op.Scope) {
		return problem.New(problem.InsufficientScope, "This key lacks the scope %s.", enumname.String(c.op.Scope))
	}
	return nil
}

// isPost reports whether the operation is a POST, which has a body.
func (c *call) isPost() bool { return c.op.Method == http.MethodPost }

// takesKey reports whether the request needs an Idempotency-Key.
func (c *call) takesKey() bool { return c.isPost() && !c.op.KeyIgnored }

// deprecate adds the headers of what the call used that will go away.
func (h *Handler) deprecate(c *call, status int) {
	use := openapi.Use{RawQuery: c.r.URL.RawQuery, Body: c.body, Status: status, Err: c.err}
	if c.op != nil {
		use.Method, use.Path = c.op.Method, c.op.Path
	}
	h.Deprecations.Deprecate(c.Header(), &use)
}
