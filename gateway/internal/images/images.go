// Package images serves catalog images, the one part of the API that needs no key (API
// specification, GET /catalog/images/{fileId}).
package images

import (
	"bytes"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/partnergifting/platform/gateway/internal/limits"
	"github.com/partnergifting/platform/gateway/internal/problems"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// Handler answers image reads.
type Handler struct {
	Images   catalogv1.ImagesServiceClient
	Limiter  *limits.Limiter
	Problems problems.Writer
	// ClientIP tells whose limit a request counts against.
	ClientIP func(r *http.Request) string
}

// ServeHTTP answers with the bytes. A file's id names its content, so an answer may be kept for
// good and a caller that has it is told so.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	requestID := w.Header().Get("Request-Id")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		h.Problems.Write(w, requestID, problem.New(problem.MethodNotAllowed, "An image can only be read."))
		return
	}
	v := h.Limiter.TakeIP(r.Context(), h.ClientIP(r))
	h.Limiter.Policy.WriteHeaders(w.Header(), v)
	if !v.Allowed {
		e := problem.New(problem.RateLimited, "This address has read too many images in the last minute.")
		e.RetryAfter = max(v.Reset, time.Second)
		h.Problems.Write(w, requestID, e)
		return
	}
	id := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	if !utf8.ValidString(id) {
		h.Problems.Write(w, requestID, problem.RecordNotFound())
		return
	}
	image, err := h.Images.GetImage(r.Context(), &catalogv1.GetImageRequest{FileId: id})
	if err != nil {
		p, ok := problem.As(err)
		if !ok {
			p = problem.Internal()
		}
		h.Problems.Write(w, requestID, p)
		return
	}
	header := w.Header()
	header.Set("Content-Type", image.GetContentType())
	header.Set("ETag", `"`+image.GetDigest()+`"`)
	header.Set("Cache-Control", "public, max-age=31536000, immutable")
	header.Set("X-Content-Type-Options", "nosniff")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(image.GetContent()))
}
