// Package images serves catalog images, the only part of the API without an API key (API specification, GET
// /catalog/images/{fileId}).
//
// Every image is looked up in the catalog, so it is no longer served once its gift has left the catalog. Callers and caches may
// keep their copies forever, because the content of a file never changes.
package images

import (
	"fmt"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/partnergifting/platform/gateway/internal/httperror"
	"github.com/partnergifting/platform/gateway/internal/limits"
	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// Deps are what a Handler works with.
type Deps struct {
	// Images finds the images of all cells.
	Images   catalogv1.ImagesServiceClient
	Limiter  *limits.Limiter
	Errors   httperror.Writer
	ClientIP func(r *http.Request) string
}

// Config of a Handler. Prefix is the prefix of the paths; the id of the image follows.
type Config struct {
	Prefix string
}

// Handler serves images.
type Handler struct {
	deps Deps
	cfg  Config
}

// New makes a Handler.
func New(deps Deps, cfg Config) *Handler { return &Handler{deps: deps, cfg: cfg} }

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	err := h.check(w.Header(), r)
	if err == nil {
		err = h.serve(w, r, strings.TrimPrefix(r.URL.Path, h.cfg.Prefix))
	}
	if err != nil {
		h.deps.Errors.Write(r.Context(), w, err)
	}
}

// check counts the request and refuses methods other than GET and HEAD.
func (h *Handler) check(header http.Header, r *http.Request) error {
	verdict := h.deps.Limiter.TakeIP(r.Context(), h.deps.ClientIP(r))
	h.deps.Limiter.WriteHeaders(header, verdict)
	if !verdict.Allowed {
		return httperror.RateLimited("This address has read too many images in the last minute.", verdict.Reset)
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		header.Set("Allow", "GET, HEAD")
		return problem.New(problem.MethodNotAllowed, "Images are read-only.")
	}
	return nil
}

func (h *Handler) serve(w http.ResponseWriter, r *http.Request, id string) error {
	if !utf8.ValidString(id) {
		return problem.RecordNotFound()
	}
	head := r.Method == http.MethodHead
	read := &catalogv1.GetImageRequest{FileId: id, HeadOnly: head || r.Header.Get("If-None-Match") != ""}
	image, err := h.deps.Images.GetImage(r.Context(), read)
	if err != nil {
		return err
	}
	f := fileOf(image)
	if condition, _ := caller.ParseCondition(r.Header.Values("If-None-Match")); condition.HasWeakly(f.etag) {
		f.writeCacheHeaders(w.Header())
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	if head { // Ranges are for GET only.
		f.writeHeaders(w.Header(), f.size)
		w.WriteHeader(http.StatusOK)
		return nil
	}
	if read.GetHeadOnly() { // The caller's copy is not current.
		read.HeadOnly = false
		if image, err = h.deps.Images.GetImage(r.Context(), read); err != nil {
			return err
		}
	}
	return f.send(w, r, image.GetContent())
}

func (f file) send(w http.ResponseWriter, r *http.Request, content []byte) error {
	f.size = int64(len(content))
	status := http.StatusOK
	if start, end, requested := f.requestedRange(r.Header); requested {
		if start == end {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes */%d", f.size))
			return problem.New(problem.RangeNotSatisfiable, "The image has %d bytes.", f.size)
		}
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", start, end-1, f.size))
		status, content = http.StatusPartialContent, content[start:end]
	}
	f.writeHeaders(w.Header(), int64(len(content)))
	w.WriteHeader(status)
	_, _ = w.Write(content)
	return nil
}

// oneRange matches one range of bytes: its first and its last position, or the length of a suffix.
var oneRange = regexp.MustCompile(`(?i)^bytes=(\d*)-(\d*)$`)

// requestedRange returns where the requested part begins and ends (RFC 9110, section 14.1.2). It is empty if it is outside the
// file. Several ranges, other units and malformed headers are ignored: the response is the whole file, as the RFC allows. So is a
// range if If-Range has another ETag. A date in If-Range never matches, because images have no Last-Modified.
func (f file) requestedRange(h http.Header) (start, end int64, requested bool) {
	form := oneRange.FindStringSubmatch(strings.Join(h.Values("Range"), ","))
	version := h.Get("If-Range")
	if form == nil || version != "" && version != f.etag {
		return 0, 0, false
	}
	first, _ := strconv.ParseInt(form[1], 10, 64) // A number that is too large becomes math.MaxInt64.
	last, _ := strconv.ParseInt(form[2], 10, 64)
	switch {
	case form[1]+form[2] == "":
		return 0, 0, false
	case form[1] == "":
		return max(f.size-last, 0), f.size, true
	case form[2] == "":
		last = math.MaxInt64
	case last < first:
		return 0, 0, false
	}
	return min(first, f.size), min(last, f.size-1) + 1, true
}

// writeCacheHeaders allows copies to be kept forever, because the content of a file never changes.
func (f file) writeCacheHeaders(header http.Header) {
	header.Set("ETag", f.etag)
	header.Set("Cache-Control", "public, max-age=31536000, immutable")
	header.Set("X-Content-Type-Options", "nosniff")
}

func (f file) writeHeaders(header http.Header, length int64) {
	f.writeCacheHeaders(header)
	header.Set("Accept-Ranges", "bytes")
	header.Set("Content-Type", f.contentType)
	header.Set("Content-Length", strconv.FormatInt(length, 10))
}

// file is an image without its content.
type file struct {
	contentType string
	etag        string
	size        int64
}

func fileOf(image *catalogv1.GetImageResponse) file {
	return file{contentType: image.GetContentType(), etag: `"` + image.GetDigest() + `"`, size: image.GetSize()}
}
