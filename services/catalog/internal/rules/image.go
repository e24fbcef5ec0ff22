package rules

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
)

const (
	maxImageBytes = 10 << 20
	fileIDLen     = 32
)

// Image is an image of a gift. Its id is the first half of its digest, so the same bytes always
// have the same id.
type Image struct {
	FileID      string
	Digest      string
	ContentType string
	Size        int
}

// ReadImage validates an image by its bytes.
func ReadImage(errs *fields.Errors, content []byte) Image {
	sum := sha256.Sum256(content)
	digest := hex.EncodeToString(sum[:])
	img := Image{FileID: digest[:fileIDLen], Digest: digest, ContentType: http.DetectContentType(content), Size: len(content)}
	switch img.ContentType {
	case "image/png", "image/jpeg", "image/webp":
	default:
		errs.Add("content", problem.FieldInvalid, "must be a PNG, JPEG or WebP image")
	}
	if len(content) > maxImageBytes {
		errs.Add("content", problem.FieldTooLong, "must have at most 10 MB")
	}
	return img
}
