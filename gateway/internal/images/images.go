// Package images serves catalog images, the one part of the API that needs no key (API
// specification, GET /catalog/images/{fileId}).
//
// Content is asked of the catalog with every request that gets some, so an image stops being served
// when its gift leaves the catalog. Revalidations (304) and HEAD are answered from memory for
// Lifetime after the catalog last said that the image is open. Copies that callers and caches keep
// are theirs: a file never changes under its id, and they are told to keep it.
package images

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/partnergifting/platform/gateway/internal/limits"
	"github.com/partnergifting/platform/gateway/internal/problems"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// Options of a handler.
type Options struct {
	// Prefix of the paths; an image's id is what follows.
	Prefix   string
	Images   catalogv1.ImagesServiceClient
	Limiter  *limits.Limiter
	Problems problems.Writer
	// ClientIP tells whose limit a request counts against.
	ClientIP func(r *http.Request) string
	Clock    func() time.Time
	Log      *slog.Logger
}

// Handler answers image reads.
type Handler struct {
	Options

	known *known
}

// New makes a handler.
func New(o Options) *Handler { return &Handler{Options: o, known: newKnown(o.Clock)} }

// ServeHTTP checks what can be checked without the image, then answers with it.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := h.admit(w, r); err != nil {
		h.refuse(w, r, err)
		return
	}
	id := strings.TrimPrefix(r.URL.Path, h.Prefix)
	if !utf8.ValidString(id) {
		h.refuse(w, r, problem.RecordNotFound())
		return
	}
	if err := h.answer(w, r, id); err != nil {
		h.refuse(w, r, err)
	}
}

// admit counts the request, whatever it is, and demands a reading method.
func (h *Handler) admit(w http.ResponseWriter, r *http.Request) error {
	v := h.Limiter.TakeIP(r.Context(), h.ClientIP(r))
	h.Limiter.Policy.WriteHeaders(w.Header(), v)
	if !v.Allowed {
		e := problem.New(problem.RateLimited, "This address has read too many images in the last minute.")
		e.RetryAfter = max(v.Reset, time.Second)
		return e
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		return problem.New(problem.MethodNotAllowed, "An image can only be read.")
	}
	return nil
}

// answer reads the content only for a caller that gets some.
func (h *Handler) answer(w http.ResponseWriter, r *http.Request, id string) error {
	head := r.Method == http.MethodHead
	if head || r.Header.Get("If-None-Match") != "" {
		f, err := h.file(r.Context(), id)
		if err != nil {
			return err
		}
		if f.unchanged(r.Header) {
			f.writeHeaders(w.Header())
			w.WriteHeader(http.StatusNotModified)
			return nil
		}
		if head { // A range is for GET alone.
			f.begin(w.Header(), f.size)
			w.WriteHeader(http.StatusOK)
			return nil
		}
	}
	image, err := h.read(r.Context(), id, false)
	if err != nil {
		return err
	}
	return h.send(w, r, fileOf(image), image.GetContent())
}

// file gives what is known of an image, or asks.
func (h *Handler) file(ctx context.Context, id string) (file, error) {
	if f, ok := h.known.get(id); ok {
		return f, nil
	}
	image, err := h.read(ctx, id, true)
	if err != nil {
		return file{}, err
	}
	return fileOf(image), nil
}

func (h *Handler) read(ctx context.Context, id string, headOnly bool) (*catalogv1.GetImageResponse, error) {
	image, err := h.Images.GetImage(ctx, &catalogv1.GetImageRequest{FileId: id, HeadOnly: headOnly})
	switch {
	case problem.Is(err, problem.NotFound):
		h.known.forget(id)
	case err == nil:
		h.known.put(id, fileOf(image))
	}
	return image, err
}

func (h *Handler) send(w http.ResponseWriter, r *http.Request, f file, content []byte) error {
	f.size = int64(len(content))
	status := http.StatusOK
	if p, asked := f.askedPart(r.Header); asked {
		w.Header().Set("Content-Range", f.contentRange(p))
		if p.length == 0 {
			return problem.New(problem.RangeNotSatisfiable, "The image has %d bytes.", f.size)
		}
		status, content = http.StatusPartialContent, content[p.start:p.start+p.length]
	}
	f.begin(w.Header(), int64(len(content)))
	w.WriteHeader(status)
	// Whoever has gone away needs no answer.
	_, _ = w.Write(content) //nolint:gosec // Of an image by its type, which browsers are told not to guess.
	return nil
}

// writeHeaders writes what every good answer has. A file's id names its content, so a copy may be
// kept for good.
func (f file) writeHeaders(header http.Header) {
	header.Set("ETag", f.etag)
	header.Set("Cache-Control", "public, max-age=31536000, immutable")
	header.Set("X-Content-Type-Options", "nosniff")
}

func (f file) begin(header http.Header, length int64) {
	f.writeHeaders(header)
	header.Set("Accept-Ranges", "bytes")
	header.Set("Content-Type", f.contentType)
	header.Set("Content-Length", strconv.FormatInt(length, 10))
}

// refuse answers with the problem err stands for; anything else is a fault of ours.
func (h *Handler) refuse(w http.ResponseWriter, r *http.Request, err error) {
	p, ok := problem.As(err)
	if !ok {
		p = problem.Internal()
	}
	if p.Code == problem.InternalError || p.Code == problem.ServiceUnavailable {
		h.Log.ErrorContext(r.Context(), "image not read", "path", r.URL.Path, "error", err)
	}
	h.Problems.Write(w, w.Header().Get("Request-Id"), p)
}
