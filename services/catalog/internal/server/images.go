package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/tenants"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/catalog/internal/picture"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

// GetImage returns an image that the public may see. Other images are not found.
func (s *service) GetImage(ctx context.Context, req *catalogv1.GetImageRequest) (*catalogv1.GetImageResponse, error) {
	if hero, logo, ok := rules.ParseLinkPicture(req.GetFileId()); ok {
		return s.linkPicture(ctx, req, hero, logo)
	}
	if !rules.IsFileID(req.GetFileId()) {
		return nil, problem.RecordNotFound()
	}
	image, public, err := s.Store.PublicImage(ctx, req.GetFileId())
	if err != nil {
		return nil, err
	}
	if !public {
		return nil, problem.RecordNotFound()
	}
	resp := &catalogv1.GetImageResponse{ContentType: image.ContentType, Digest: image.Digest, Size: int64(image.Size)}
	if !req.GetHeadOnly() {
		resp.Content, err = s.Files.Get(ctx, image.FileID)
		if err == nil && len(resp.GetContent()) != image.Size { // A store on a disk may lose what it wrote just before a power failure.
			err = fmt.Errorf("image %s: %w", image.FileID, errIncomplete)
		}
	}
	if err != nil {
		return nil, err
	}
	return resp, nil
}

var errIncomplete = errors.New("the stored file is incomplete")

// endOfJPEG ends each whole JPEG.
var endOfJPEG = []byte{0xff, 0xd9}

// linkPicture returns the picture that messengers show of a brand's links. It is made when it is first read, and then stored.
func (s *service) linkPicture(
	ctx context.Context, req *catalogv1.GetImageRequest, hero, logo string,
) (*catalogv1.GetImageResponse, error) {
	hero, public, err := s.Store.PublicLinkPicture(ctx, hero, logo)
	if err != nil {
		return nil, err
	}
	if !public {
		return nil, problem.RecordNotFound()
	}
	content, err := s.Files.Get(ctx, req.GetFileId())
	if err != nil || !bytes.HasSuffix(content, endOfJPEG) {
		if content, err = s.makeLinkPicture(ctx, req.GetFileId(), hero, logo); err != nil {
			return nil, err
		}
	}
	made := rules.NewImage(content, picture.JPEG, picture.LinkWidth, picture.LinkHeight)
	resp := &catalogv1.GetImageResponse{ContentType: made.ContentType, Digest: made.Digest, Size: int64(made.Size)}
	if !req.GetHeadOnly() {
		resp.Content = content
	}
	return resp, nil
}

func (s *service) makeLinkPicture(ctx context.Context, id, hero, logo string) ([]byte, error) {
	contents := map[string][]byte{}
	for _, part := range []string{hero, logo} {
		if part == "" {
			continue
		}
		content, err := s.Files.Get(ctx, part)
		if err != nil {
			return nil, err
		}
		contents[part] = content
	}
	file, err := s.Processor.LinkPicture(ctx, contents[hero], contents[logo])
	if err != nil {
		return nil, err
	}
	return file.Content, s.Files.Put(ctx, id, file.ContentType, file.Content)
}

// UploadImage stores an image and its renditions. The files are stored before their rows, so that a row always has its file.
// They are stored even if the rows exist, which restores a lost file.
func (s *service) UploadImage(ctx context.Context, req *catalogv1.UploadImageRequest) (*catalogv1.UploadImageResponse, error) {
	errs := caller.RequestErrors(ctx)
	checkUpload(req.GetContent(), errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	image, err := s.storeImage(ctx, req.GetContent(), s.Processor.Prepare)
	return &catalogv1.UploadImageResponse{FileId: image.FileID}, err
}

// preparation makes an image of a kind, with its renditions if it has any.
type preparation func(ctx context.Context, content []byte) (picture.Set, error)

// storeImage stores an image with its renditions and returns the original.
func (s *service) storeImage(ctx context.Context, content []byte, prepare preparation) (original rules.Image, err error) {
	set, err := prepare(ctx, content)
	if err != nil {
		return original, refusedImage(err)
	}
	var stored []rules.Image
	for _, file := range append(set.Renditions, set.Original) {
		image, err := s.storeFile(ctx, file)
		if err != nil {
			return original, err
		}
		stored = append(stored, image)
	}
	last := len(stored) - 1
	// Another cell gets the gifts from the first one, and must not change them.
	return stored[last], s.Store.PutImage(ctx, stored[last], stored[:last], s.changesGifts() == nil)
}

// storeFile stores the bytes of an image.
func (s *service) storeFile(ctx context.Context, file picture.File) (rules.Image, error) {
	image := rules.NewImage(file.Content, file.ContentType, file.Width, file.Height)
	return image, s.Files.Put(ctx, image.FileID, image.ContentType, file.Content)
}

func checkUpload(content []byte, errs *fields.Errors) {
	switch {
	case len(content) == 0:
		errs.Add("content", problem.FieldRequired, "is required")
	case len(content) > rules.MaxImageBytes:
		errs.Add("content", problem.FieldTooLong, "must have at most 10 MB")
	}
}

// refusedImage turns an error of package picture into a violation.
func refusedImage(err error) error {
	if refusal, ok := errors.AsType[*picture.RefusalError](err); ok {
		return problem.Invalid(problem.Violation{Field: "content", Code: refusal.Code, Message: refusal.Message})
	}
	return err
}

// UploadBrandLogo stores a logo and makes it public.
func (s *service) UploadBrandLogo(
	ctx context.Context, req *catalogv1.UploadBrandLogoRequest,
) (*catalogv1.UploadBrandLogoResponse, error) {
	table, prepare := store.Logos, s.Processor.PrepareLogo
	if req.GetOnDark() {
		table, prepare = store.DarkLogos, s.Processor.PrepareDarkLogo
	}
	id, err := s.upload(ctx, req, table, prepare)
	return &catalogv1.UploadBrandLogoResponse{FileId: id, Url: s.present.imageBase + id}, err
}

// UploadBrandHero stores a picture of a brand's gift site and makes it public.
func (s *service) UploadBrandHero(
	ctx context.Context, req *catalogv1.UploadBrandHeroRequest,
) (*catalogv1.UploadBrandHeroResponse, error) {
	table, prepare := store.Heroes, s.Processor.PrepareHero
	switch req.GetKind() {
	case catalogv1.BrandPictureKind_BRAND_PICTURE_KIND_UNSPECIFIED, catalogv1.BrandPictureKind_BRAND_PICTURE_KIND_HERO:
	case catalogv1.BrandPictureKind_BRAND_PICTURE_KIND_PORTRAIT:
		table, prepare = store.Portraits, s.Processor.PreparePortrait
	case catalogv1.BrandPictureKind_BRAND_PICTURE_KIND_SIGNATURE:
		table, prepare = store.Signatures, s.Processor.PrepareSignature
	default:
		return nil, problem.Invalid(problem.Violation{
			Field: "kind", Code: problem.FieldInvalid, Message: "must be one of HERO, PORTRAIT, SIGNATURE",
		})
	}
	id, err := s.upload(ctx, req, table, prepare)
	return &catalogv1.UploadBrandHeroResponse{FileId: id, Url: s.present.imageBase + id}, err
}

type brandUpload interface {
	GetTenantId() string
	GetBrandId() string
	GetContent() []byte
}

// upload stores a picture of a brand and returns the id of its file.
func (s *service) upload(ctx context.Context, req brandUpload, table store.BrandPictures, prepare preparation) (string, error) {
	errs := caller.RequestErrors(ctx)
	tenantID, brandID := rules.RecordID("tenantId", req.GetTenantId(), errs), rules.RecordID("brandId", req.GetBrandId(), errs)
	checkUpload(req.GetContent(), errs)
	if err := errs.Err(); err != nil {
		return "", err
	}
	if err := s.checkBrand(ctx, tenantID, brandID); err != nil {
		return "", err
	}
	image, err := s.storeImage(ctx, req.GetContent(), prepare)
	if err != nil {
		return "", err
	}
	return image.FileID, s.Store.PutBrandPicture(ctx, table, tenantID, brandID, image.FileID)
}

// checkBrand asks the tenants service, not the cache, so that a new brand is known immediately.
func (s *service) checkBrand(ctx context.Context, tenantID, brandID string) error {
	settings, err := s.tenants.Fresh(ctx, tenantID)
	errs := &fields.Errors{}
	switch {
	case errors.Is(err, tenants.ErrOtherCell):
		return err
	case problem.Is(err, problem.NotFound):
		errs.Add("tenantId", problem.FieldInvalid, "names no tenant")
	case err != nil:
		return err
	case !slices.ContainsFunc(settings.GetBrands(), func(b *tenantsv1.Brand) bool { return b.GetId() == brandID }):
		errs.Add("brandId", problem.FieldInvalid, "names no brand of the tenant")
	}
	return errs.Err()
}
