package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/fields"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

// UploadImage stores an image. The bytes are stored first: a row always has its file. They are
// stored again when the image exists already, which heals a file that was lost.
func (o *Operations) UploadImage(ctx context.Context, req *catalogv1.UploadImageRequest) (*catalogv1.UploadImageResponse, error) {
	errs := fields.Collect(ctx)
	image := rules.ReadImage(errs, req.GetContent())
	if err := errs.Err(); err != nil {
		return nil, err
	}
	if err := o.files.Put(ctx, image.FileID, image.ContentType, req.GetContent()); err != nil {
		return nil, err
	}
	if err := o.store.PutImage(ctx, image); err != nil {
		return nil, err
	}
	return &catalogv1.UploadImageResponse{FileId: image.FileID}, nil
}
