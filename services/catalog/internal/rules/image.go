package rules

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"

	"github.com/partnergifting/platform/pkg/fields"
)

// MaxImageBytes bounds an uploaded image, and each file that is stored of it.
const MaxImageBytes = 10 << 20

// FileIDLen is the length of an image's id.
const FileIDLen = 32

// Image is a stored file. Its id is the first half of its digest, so the same bytes have the same id.
type Image struct {
	FileID      string
	Digest      string
	ContentType string
	Size        int
	// Width and Height in pixels.
	Width  int
	Height int
}

// NewImage derives the id of an image from its content.
func NewImage(content []byte, contentType string, width, height int) Image {
	sum := sha256.Sum256(content)
	digest := hex.EncodeToString(sum[:])
	return Image{
		FileID: digest[:FileIDLen], Digest: digest,
		ContentType: contentType, Size: len(content), Width: width, Height: height,
	}
}

// linkPicture is the form of the id of the picture of a link: the ids of its hero picture and of its logo.
var linkPicture = regexp.MustCompile(`^([0-9a-f]{32})?-([0-9a-f]{32})?$`)

// ParseLinkPicture returns the files of which the picture of a link is made, one of which may be empty.
func ParseLinkPicture(id string) (hero, logo string, ok bool) {
	parts := linkPicture.FindStringSubmatch(id)
	if parts == nil || parts[1]+parts[2] == "" {
		return "", "", false
	}
	return parts[1], parts[2], true
}

// maxSitePictures is how many pictures beside its hero picture a page of the gift site may ask for.
const maxSitePictures = 10

// CheckPictureIDs validates the ids of pictures that a page of the gift site shows.
func CheckPictureIDs(ids []string, errs *fields.Errors) {
	atMost("pictureIds", len(ids), maxSitePictures, errs)
	for i, id := range ids {
		errs.Line(fmt.Sprintf("pictureIds[%d]", i), id, FileIDLen)
	}
}

// ShownImage is a file in the list of a gift's images. Width is nil for the original.
type ShownImage struct {
	FileID string `json:"fileId"`
	Width  *int32 `json:"width"`
}

// MaxPublicPictures is how many of a brand's latest pictures of one kind are public: of its logos for light pages, of those for
// dark pages, of its hero pictures, portraits and signatures. There are enough that a few trial uploads do not hide the one in use.
const MaxPublicPictures = 20
