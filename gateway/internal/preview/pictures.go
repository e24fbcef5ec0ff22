package preview

import (
	"context"
	"encoding/base64"
	"strings"

	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// pictures reads images of the catalog, and no others.
type pictures struct {
	images catalogv1.ImagesServiceClient
	// base is the address of an image without its id.
	base string
}

// dataURL returns the image as a data URL of at most limit bytes. It is empty for a larger image, for one that is not public or
// whose file is lost, and for an address that is not of the catalog.
func (p pictures) dataURL(ctx context.Context, address string, limit int) (string, error) {
	id, own := strings.CutPrefix(address, p.base)
	if !own || limit <= 0 {
		return "", nil
	}
	image, err := p.images.GetImage(ctx, &catalogv1.GetImageRequest{FileId: id})
	switch {
	case problem.Is(err, problem.NotFound), problem.Is(err, problem.InternalError):
		return "", nil
	case err != nil:
		return "", err
	}
	begin := "data:" + image.GetContentType() + ";base64,"
	if len(begin)+base64.StdEncoding.EncodedLen(len(image.GetContent())) > limit {
		return "", nil
	}
	return begin + base64.StdEncoding.EncodeToString(image.GetContent()), nil
}
