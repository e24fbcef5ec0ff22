package server_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"image"
	"image/color"
	"image/draw"
	imagejpeg "image/jpeg"
	imagepng "image/png"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// Small images.
var (
	png     = encoded(func(b *bytes.Buffer) error { return imagepng.Encode(b, drawing(8, 6)) })
	jpeg    = encoded(func(b *bytes.Buffer) error { return imagejpeg.Encode(b, drawing(8, 6), nil) })
	webp, _ = base64.StdEncoding.DecodeString("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==")
)

func drawing(width, height int) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			img.SetRGBA(x, y, color.RGBA{R: uint8(x), G: uint8(y), B: 200, A: 255})
		}
	}
	return img
}

func encoded(encode func(b *bytes.Buffer) error) []byte {
	var b bytes.Buffer
	if err := encode(&b); err != nil {
		panic(err) // Writing to a buffer does not fail.
	}
	return b.Bytes()
}

func wideJPEG(width int) []byte {
	return encoded(func(b *bytes.Buffer) error { return imagejpeg.Encode(b, drawing(width, 1+width/20), nil) })
}

// heroJPEG is a hero picture of the smallest size.
func heroJPEG() []byte {
	return encoded(func(b *bytes.Buffer) error { return imagejpeg.Encode(b, drawing(1600, 600), nil) })
}

func plainPNG(width, height int, c color.Color) []byte {
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	draw.Draw(img, img.Bounds(), image.NewUniform(c), image.Point{}, draw.Src)
	return encoded(func(b *bytes.Buffer) error { return imagepng.Encode(b, img) })
}

func (f *fixture) upload(content []byte) string {
	f.t.Helper()
	return call(f, f.ops.UploadImage, &catalogv1.UploadImageRequest{Content: content}).GetFileId()
}

func (f *fixture) image(fileID string) *catalogv1.GetImageResponse {
	f.t.Helper()
	return call(f, f.images.GetImage, &catalogv1.GetImageRequest{FileId: fileID})
}

// open reports whether the public can see a file.
func (f *fixture) open(fileID string) bool {
	f.t.Helper()
	_, err := f.images.GetImage(f.t.Context(), &catalogv1.GetImageRequest{FileId: fileID})
	if err != nil {
		require.True(f.t, problem.Is(err, problem.NotFound), "%v", err)
	}
	return err == nil
}

// listed returns the file ids of a gift's images and the widths of those that are renditions.
func (f *fixture) listed(productID string) (ids []string, widths []int32) {
	f.t.Helper()
	got := call(f, f.catalog.GetProduct, &catalogv1.GetProductRequest{ProductId: productID, Country: "SE"})
	for _, i := range got.GetProduct().GetImages() {
		id, ours := strings.CutPrefix(i.GetUrl(), publicURL+"/catalog/images/")
		require.True(f.t, ours)
		ids = append(ids, id)
		if i.Width != nil {
			widths = append(widths, i.GetWidth())
		}
	}
	return ids, widths
}

func TestUploadedImages(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for name, tc := range map[string]struct {
		content     []byte
		contentType string
	}{"PNG": {png, "image/png"}, "JPEG": {jpeg, "image/jpeg"}, "WebP": {webp, "image/png"}} {
		t.Run(name, func(t *testing.T) {
			id := f.upload(tc.content)
			require.Equal(t, id, f.upload(tc.content), "the same bytes have the same id")
			f.put(gift(func(p *catalogv1.PutProductRequest) { p.ImageFileIds = []string{id} }))
			got := f.image(id)
			require.Equal(t, tc.contentType, got.GetContentType())
			sum := sha256.Sum256(got.GetContent())
			require.Equal(t, hex.EncodeToString(sum[:]), got.GetDigest())
			require.Equal(t, id, got.GetDigest()[:32])
		})
	}
	t.Run("10 MB and 8192 pixels in a row are the limits", func(t *testing.T) {
		const tenMB = 10 << 20
		large := append(bytes.Clone(png), make([]byte, tenMB-len(png))...)
		require.Equal(t, f.upload(png), f.upload(large), "bytes after the image do not count")
		for _, content := range [][]byte{append(large, 0), wideJPEG(8193)} {
			require.Equal(t, codes{
				"content": problem.FieldTooLong,
			}, violations(f, f.ops.UploadImage, &catalogv1.UploadImageRequest{Content: content}))
		}
	})
	t.Run("and of what is stored", func(t *testing.T) {
		noise := image.NewGray(image.Rect(0, 0, 1100, 1000))
		for i := range noise.Pix {
			noise.Pix[i] = uint8(rand.N(256))
		}
		content := encoded(func(b *bytes.Buffer) error { return imagepng.Encode(b, noise) })
		require.Greater(t, len(content), maxStoredImage)
		want := codes{"content": problem.FieldTooLong}
		require.Equal(t, want, violations(f, f.ops.UploadImage, &catalogv1.UploadImageRequest{Content: content}))
		require.Equal(t, want, violations(f, f.logos.UploadBrandLogo, &catalogv1.UploadBrandLogoRequest{
			TenantId: tenantID, BrandId: brandID, Content: content,
		}))
	})
}

func TestAFileThatAPowerFailureCutIsNotServed(t *testing.T) {
	t.Parallel()
	f := setup(t)
	cut := func(id string, content []byte) {
		require.NoError(t, f.files.Put(t.Context(), id, "image/png", content[:len(content)/2]))
	}
	id := f.upload(png)
	f.put(gift(func(p *catalogv1.PutProductRequest) { p.ImageFileIds = []string{id} }))
	cut(id, f.image(id).GetContent())
	_, err := f.images.GetImage(t.Context(), &catalogv1.GetImageRequest{FileId: id})
	require.Error(t, err, "it would be cached for a year")
	f.upload(png)
	f.image(id)
	t.Run("the picture of a link is made again", func(t *testing.T) {
		logo := call(f, f.logos.UploadBrandLogo, &catalogv1.UploadBrandLogoRequest{
			TenantId: tenantID, BrandId: brandID, Content: wideJPEG(200),
		}).GetFileId()
		whole := f.image("-" + logo)
		cut("-"+logo, whole.GetContent())
		require.Equal(t, whole.GetDigest(), f.image("-"+logo).GetDigest())
	})
}

func TestAGiftListsTheRenditionsOfItsImages(t *testing.T) {
	t.Parallel()
	f := setup(t)
	wide, small := f.upload(wideJPEG(1300)), f.upload(png)
	p := gift(func(p *catalogv1.PutProductRequest) { p.ImageFileIds = []string{wide, small} })
	f.put(p)
	files, widths := f.listed(p.GetId())
	require.Equal(t, []int32{320, 640, 1280}, widths)
	require.Len(t, files, 5)
	require.Equal(t, []string{wide, small}, files[3:], "each original comes after its renditions")
	header, err := imagejpeg.DecodeConfig(bytes.NewReader(f.image(files[0]).GetContent()))
	require.NoError(t, err)
	require.Equal(t, 320, header.Width)
	t.Run("public if the original is", func(t *testing.T) {
		p.State = archived
		f.put(p)
		for _, id := range files {
			require.False(t, f.open(id))
		}
	})
	t.Run("and unchanged when uploaded again", func(t *testing.T) {
		p.State = published
		before := f.put(p)
		require.Equal(t, wide, f.upload(wideJPEG(1300)))
		again, _ := f.listed(p.GetId())
		require.Equal(t, files, again)
		require.Empty(t, f.changedSince(before.Add(time.Microsecond)))
	})
	t.Run("also those of a logo, once it is uploaded as an image", func(t *testing.T) {
		logo := call(f, f.logos.UploadBrandLogo, &catalogv1.UploadBrandLogoRequest{
			TenantId: tenantID, BrandId: brandID, Content: wideJPEG(1400),
		})
		p.ImageFileIds = []string{logo.GetFileId()}
		before := f.put(p)
		_, none := f.listed(p.GetId())
		require.Empty(t, none)
		require.Equal(t, logo.GetFileId(), f.upload(wideJPEG(1400)))
		_, again := f.listed(p.GetId())
		require.Equal(t, widths, again)
		require.Equal(t, []string{p.GetId()}, ids(f.changedSince(before.Add(time.Microsecond))), "readers see it change")
	})
}

func TestOnlyImagesInUseArePublic(t *testing.T) {
	t.Parallel()
	f := setup(t)
	id := f.upload(png)
	require.False(t, f.open(id), "no gift uses it")
	p := gift(func(p *catalogv1.PutProductRequest) {
		p.ImageFileIds, p.State = []string{id}, draft
	})
	f.put(p)
	require.False(t, f.open(id), "the gift is a draft")
	p.State = published
	f.put(p)
	require.True(t, f.open(id))
	c := campaign(offering(p.GetId(), onDemand, nil, "S"))
	c.Status = inPreparation
	f.putCampaign(c)
	listed := func() []string {
		return postgres.Column(f.readCampaign(c.GetId()).GetOfferings()[0].GetImages(), func(i *catalogv1.Image) string {
			return strings.TrimPrefix(i.GetUrl(), publicURL+"/catalog/images/")
		})
	}
	require.Equal(t, []string{id}, listed())
	p.State = archived
	f.put(p)
	require.False(t, f.open(id), "the gift left the catalog and its campaign is in preparation")
	require.Empty(t, listed())
	for status, expiresAt := range map[catalogv1.CampaignStatus]*timestamppb.Timestamp{
		running: nil, completed: nil, inPreparation: timestamppb.New(time.Now().Add(-time.Minute)),
	} {
		c.Status, c.ExpiresAt = status, expiresAt
		f.putCampaign(c)
		require.True(t, f.open(id), "the campaign is %s", status)
		require.Equal(t, []string{id}, listed())
	}
	for _, unknown := range []string{"", "../../etc/passwd", "ffffffffffffffffffffffffffffffff", "\x00"} {
		require.False(t, f.open(unknown))
	}
}

func TestTheLogosOfABrandReplaceOnlyEachOther(t *testing.T) {
	t.Parallel()
	f := setup(t)
	var last string
	for width := range 21 {
		logo, err := f.logos.UploadBrandLogo(t.Context(), &catalogv1.UploadBrandLogoRequest{
			TenantId: tenantID, BrandId: brandID, Content: wideJPEG(30 + width),
		})
		require.NoError(t, err)
		last = logo.GetFileId()
	}
	var logos int
	var hasLast bool
	require.NoError(t, f.db.QueryRow(t.Context(), `SELECT count(*), bool_or(file_id = $2) FROM brand_logos WHERE tenant_id = $1`,
		tenantID, last).Scan(&logos, &hasLast))
	require.Equal(t, 20, logos)
	require.True(t, hasLast)
}

const (
	hero      = catalogv1.BrandPictureKind_BRAND_PICTURE_KIND_HERO
	portrait  = catalogv1.BrandPictureKind_BRAND_PICTURE_KIND_PORTRAIT
	signature = catalogv1.BrandPictureKind_BRAND_PICTURE_KIND_SIGNATURE
)

func requirePictureRefused(t *testing.T, f *fixture, kind catalogv1.BrandPictureKind, content []byte, message string) {
	t.Helper()
	_, err := f.logos.UploadBrandHero(t.Context(), &catalogv1.UploadBrandHeroRequest{
		TenantId: tenantID, BrandId: brandID, Content: content, Kind: kind,
	})
	require.Equal(t, codes{"content": problem.FieldInvalid}, violationsOf(t, err))
	refusal, _ := problem.As(err)
	require.Contains(t, refusal.Violations[0].Message, message)
}

func TestThePicturesOfASenderArePublic(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for kind, content := range map[catalogv1.BrandPictureKind][]byte{
		portrait: encoded(func(b *bytes.Buffer) error {
			return imagepng.Encode(b, image.NewRGBA(image.Rect(0, 0, 400, 400)))
		}),
		signature: heroJPEG(),
	} {
		stored := call(f, f.logos.UploadBrandHero, &catalogv1.UploadBrandHeroRequest{
			TenantId: tenantID, BrandId: brandID, Content: content, Kind: kind,
		})
		require.Equal(t, publicURL+"/catalog/images/"+stored.GetFileId(), stored.GetUrl())
		header, _, err := image.DecodeConfig(bytes.NewReader(f.image(stored.GetFileId()).GetContent()))
		require.NoError(t, err)
		require.LessOrEqual(t, header.Width, 640)
	}
}

func TestUploadsOfOneKindHideNoPictureOfAnother(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t) // A twin would keep each file public.
	put := func(kind catalogv1.BrandPictureKind, content []byte) string {
		return call(f, f.logos.UploadBrandHero, &catalogv1.UploadBrandHeroRequest{
			TenantId: tenantID, BrandId: brandID, Content: content, Kind: kind,
		}).GetFileId()
	}
	unspecified, sign := put(0, heroJPEG()), put(signature, heroJPEG())
	first := put(portrait, plainPNG(340, 340, color.Gray{Y: 100}))
	for shade := range 19 {
		put(portrait, plainPNG(320, 320, color.Gray{Y: uint8(shade)}))
	}
	require.True(t, f.open(first))
	put(portrait, plainPNG(320, 320, color.Gray{Y: 19}))
	require.False(t, f.open(first), "20 later portraits")
	require.True(t, f.open(unspecified), "it is a hero picture")
	require.True(t, f.open(sign))
}

func TestTheLatest20LogosForABackgroundArePublic(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t) // A twin would keep each file public.
	put := func(onDark bool, width int) string {
		return call(f, f.logos.UploadBrandLogo, &catalogv1.UploadBrandLogoRequest{
			TenantId: tenantID, BrandId: brandID, Content: plainPNG(width, 10, color.Gray{Y: 120}), OnDark: onDark,
		}).GetFileId()
	}
	light, both := put(false, 30), put(false, 31)
	require.Equal(t, both, put(true, 31))
	renewed, oldest := put(true, 33), put(true, 32)
	require.Equal(t, renewed, put(true, 33))
	for width := range 18 {
		put(true, 40+width)
	}
	require.True(t, f.open(oldest))
	put(true, 60)
	require.False(t, f.open(oldest), "20 later ones for dark pages")
	require.True(t, f.open(renewed), "it was uploaded again")
	put(true, 61)
	require.False(t, f.open(renewed))
	require.True(t, f.open(light))
	require.True(t, f.open(both), "it is for light pages too")
	pgtest.Exec(t, f.db, `UPDATE brand_logos SET uploaded_at = uploaded_at + interval '1 year'`)
	require.True(t, f.open(put(true, 62)), "the clock was ahead before")
}

// Release 1.0.0 knows neither kinds nor backgrounds. After an upload it deletes all but the latest 20 rows of the brand in its
// table.
func TestUploadsOfTheReleaseBeforeHideNoNewerKinds(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t) // A twin would keep each file public.
	put := func(kind catalogv1.BrandPictureKind, content []byte) string {
		return call(f, f.logos.UploadBrandHero, &catalogv1.UploadBrandHeroRequest{
			TenantId: tenantID, BrandId: brandID, Content: content, Kind: kind,
		}).GetFileId()
	}
	logo := func(onDark bool, shade uint8) string {
		return call(f, f.logos.UploadBrandLogo, &catalogv1.UploadBrandLogoRequest{
			TenantId: tenantID, BrandId: brandID, Content: plainPNG(30, 10, color.Gray{Y: shade}), OnDark: onDark,
		}).GetFileId()
	}
	ids := []string{put(hero, heroJPEG()), put(signature, heroJPEG()), logo(false, 120)}
	for shade := range uint8(20) {
		ids = append(ids, put(portrait, plainPNG(320, 320, color.Gray{Y: shade})), logo(true, 200+shade))
	}
	for _, table := range []string{"brand_heroes", "brand_logos"} {
		pgtest.Exec(t, f.db, `DELETE FROM `+table+` WHERE file_id NOT IN (
  SELECT file_id FROM `+table+` ORDER BY uploaded_at DESC LIMIT 20)`)
	}
	for _, id := range ids {
		require.True(t, f.open(id))
	}
}

func TestBrandLogos(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	put := func(content []byte, change ...func(*catalogv1.UploadBrandLogoRequest)) (*catalogv1.UploadBrandLogoResponse, error) {
		req := &catalogv1.UploadBrandLogoRequest{TenantId: tenantID, BrandId: brandID, Content: content}
		for _, c := range change {
			c(req)
		}
		return f.logos.UploadBrandLogo(t.Context(), req)
	}
	first, err := put(wideJPEG(700))
	require.NoError(t, err)
	require.Equal(t, publicURL+"/catalog/images/"+first.GetFileId(), first.GetUrl())
	require.True(t, f.open(first.GetFileId()), "though no gift shows it")
	require.Equal(t, "image/jpeg", f.image(first.GetFileId()).GetContentType())
	t.Run("what is refused", func(t *testing.T) {
		for field, change := range map[string]func(*catalogv1.UploadBrandLogoRequest){
			"tenantId": func(r *catalogv1.UploadBrandLogoRequest) { r.TenantId = uuid.NewString() },
			"brandId":  func(r *catalogv1.UploadBrandLogoRequest) { r.BrandId = uuid.NewString() },
			"content":  func(r *catalogv1.UploadBrandLogoRequest) { r.Content = []byte("<svg/>") },
		} {
			_, err := put(png, change)
			require.Equal(t, codes{field: problem.FieldInvalid}, violationsOf(t, err))
		}
		blank := encoded(func(b *bytes.Buffer) error { return imagepng.Encode(b, image.NewRGBA(image.Rect(0, 0, 9, 9))) })
		for content, message := range map[string]string{
			string(wideJPEG(1599)): "1600 pixels", string(wideJPEG(1600)): "between 4:3 and 3:1",
		} {
			requirePictureRefused(t, f, hero, []byte(content), message)
		}
		requirePictureRefused(t, f, portrait, png, "at least 320 pixels wide and high")
		requirePictureRefused(t, f, portrait, heroJPEG(), "between 4:5 and 5:4")
		requirePictureRefused(t, f, signature, png, "at least 320 pixels wide")
		white := encoded(func(b *bytes.Buffer) error { return imagepng.Encode(b, image.NewRGBA(image.Rect(0, 0, 320, 90))) })
		requirePictureRefused(t, f, signature, white, "must be seen on white")
		require.Equal(t, codes{"kind": problem.FieldInvalid}, violations(f, f.logos.UploadBrandHero,
			&catalogv1.UploadBrandHeroRequest{TenantId: tenantID, BrandId: brandID, Content: heroJPEG(), Kind: 99}))
		for onDark, message := range map[bool]string{false: "must be seen on white", true: "must be seen on #1f2329"} {
			_, err := put(blank, func(r *catalogv1.UploadBrandLogoRequest) { r.OnDark = onDark })
			require.Equal(t, codes{"content": problem.FieldInvalid}, violationsOf(t, err), "it is not seen")
			refusal, _ := problem.As(err)
			require.Contains(t, refusal.Violations[0].Message, message)
		}
		_, err := put(png, func(r *catalogv1.UploadBrandLogoRequest) { r.TenantId = otherTenantID })
		require.Equal(t, codes{"brandId": problem.FieldInvalid}, violationsOf(t, err), "another tenant's brand")
	})
}

func TestThePictureOfALinkIsPublicWhileItsPartsBelongToOneBrand(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	hero := call(f, f.logos.UploadBrandHero, &catalogv1.UploadBrandHeroRequest{
		TenantId: tenantID, BrandId: brandID, Content: heroJPEG(),
	}).GetFileId()
	logo := call(f, f.logos.UploadBrandLogo, &catalogv1.UploadBrandLogoRequest{
		TenantId: tenantID, BrandId: brandID, Content: wideJPEG(200),
	}).GetFileId()
	darkLogo := call(f, f.logos.UploadBrandLogo, &catalogv1.UploadBrandLogoRequest{
		TenantId: tenantID, BrandId: brandID, Content: plainPNG(200, 50, color.White), OnDark: true,
	}).GetFileId()
	for _, id := range []string{hero + "-" + logo, hero + "-" + darkLogo, hero + "-", "-" + logo, "-" + darkLogo} {
		first, again := f.image(id), f.image(id)
		require.True(t, proto.Equal(first, again), "it is stored")
		require.Equal(t, "image/jpeg", first.GetContentType())
		header, err := imagejpeg.DecodeConfig(bytes.NewReader(first.GetContent()))
		require.NoError(t, err)
		require.Equal(t, []int{1200, 630}, []int{header.Width, header.Height})
		head := call(f, f.images.GetImage, &catalogv1.GetImageRequest{FileId: id, HeadOnly: true})
		require.Empty(t, head.GetContent())
		require.Equal(t, first.GetDigest(), head.GetDigest())
		require.EqualValues(t, len(first.GetContent()), head.GetSize())
	}
	for _, id := range []string{
		"-", hero + "-" + hero, logo + "-" + logo, logo + "-", "-" + hero, hero + "--" + logo, "-" + strings.ToUpper(logo),
		f.upload(png) + "-" + logo,
	} {
		require.False(t, f.open(id), id)
	}
	t.Run("not of two brands", func(t *testing.T) {
		pgtest.Exec(t, f.db, `UPDATE brand_logos SET brand_id = gen_random_uuid() WHERE file_id = $1`, logo)
		require.False(t, f.open(hero+"-"+logo), "though it is stored")
		require.True(t, f.open("-"+logo))
		pgtest.Exec(t, f.db, `DELETE FROM brand_heroes WHERE file_id = $1`, hero)
		require.False(t, f.open(hero+"-"))
	})
}
