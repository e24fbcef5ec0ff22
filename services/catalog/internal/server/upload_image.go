package server

import (
	"context"
	"errors"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/internal/images"
	"github.com/partnergifting/platform/services/catalog/internal/picture"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

// UploadImage stores an image and its renditions. The bytes are stored first: a row always has its
// file. They are stored again when the image exists already, which heals a file that was lost.
func (o *Operations) UploadImage(ctx context.Context, req *catalogv1.UploadImageRequest) (*catalogv1.UploadImageResponse, error) {
	errs := fields.FromContext(ctx)
	checkUpload(req.GetContent(), errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	set, err := o.processor.Prepare(ctx, req.GetContent())
	if err != nil {
		return nil, unfitImage(err)
	}
	var stored []rules.Image
	for _, file := range append(set.Renditions, set.Original) {
		image, err := keep(ctx, o.files, file)
		if err != nil {
			return nil, err
		}
		stored = append(stored, image)
	}
	last := len(stored) - 1
	return &catalogv1.UploadImageResponse{FileId: stored[last].FileID}, o.store.PutImage(ctx, stored[last], stored[:last])
}

// keep stores the bytes of an image.
func keep(ctx context.Context, files *images.Files, file picture.File) (rules.Image, error) {
	image := rules.NewImage(file.Content, file.ContentType, file.Width, file.Height)
	return image, files.Put(ctx, image.FileID, image.ContentType, file.Content)
}

func checkUpload(content []byte, errs *fields.Errors) {
	switch {
	case len(content) == 0:
		errs.Add("content", problem.FieldRequired, "is required")
	case len(content) > rules.MaxImageBytes:
		errs.Add("content", problem.FieldTooLong, "must have at most 10 MB")
	}
}

// unfitImage makes a refusal of the image a fault of its field.
func unfitImage(err error) error {
	for refusal, field := range map[error]problem.Violation{
		picture.ErrType:    {Code: problem.FieldInvalid, Message: "must be a PNG, JPEG or WebP image"},
		picture.ErrDamaged: {Code: problem.FieldInvalid, Message: "is damaged, or of a kind that is not supported"},
		picture.ErrPixels:  {Code: problem.FieldTooLong, Message: "must have at most 25 million pixels, and 8192 in a row or column"},
	} {
		if errors.Is(err, refusal) {
			field.Field = "content"
			return problem.Invalid(field)
		}
	}
	return err
}
