package edge

import (
	"net/http"

	"github.com/partnergifting/platform/gateway/internal/problems"
	"github.com/partnergifting/platform/pkg/problem"
)

// recorder remembers the status of an answer and drops the body of an answer to HEAD.
type recorder struct {
	http.ResponseWriter
	status   int
	headOnly bool
}

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (r *recorder) Write(p []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	if r.headOnly {
		return len(p), nil
	}
	return r.ResponseWriter.Write(p)
}

// problem answers with e unless an answer has begun.
func (r *recorder) problem(writer problems.Writer, requestID string, e *problem.Error) {
	if r.status == 0 {
		writer.Write(r, requestID, e)
	}
}
