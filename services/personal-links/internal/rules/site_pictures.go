package rules

import (
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// sitePicture is a picture of a gift site beside its hero picture: the path of its field, and where its id stands.
type sitePicture struct {
	field string
	id    **string
}

func sitePictures(site *tenantsv1.GiftSite) []sitePicture {
	var all []sitePicture
	if theme := site.GetTheme(); theme != nil {
		all = append(all, sitePicture{"site.theme.darkLogoImageId", &theme.DarkLogoImageId})
	}
	if sender := site.GetSender(); sender != nil {
		all = append(all,
			sitePicture{"site.sender.portraitImageId", &sender.PortraitImageId},
			sitePicture{"site.sender.signatureImageId", &sender.SignatureImageId},
		)
	}
	return slices.DeleteFunc(all, func(p sitePicture) bool { return *p.id == nil })
}

// PictureIDs returns the ids of the pictures that the site shows beside its hero picture.
func PictureIDs(site *tenantsv1.GiftSite) []string {
	var ids []string
	for _, p := range sitePictures(site) {
		ids = append(ids, **p.id)
	}
	return ids
}

// CheckPictures refuses ids of pictures that the brand does not have, by the selection of the site's page.
func CheckPictures(site *tenantsv1.GiftSite, selection *catalogv1.ListSelectionGiftsResponse, errs *fields.Errors) {
	const message = "must be the id of a picture that the brand has uploaded and that is among its latest"
	if site.GetTheme().GetHeroImageId() != "" && len(selection.GetHero()) == 0 {
		errs.Add("site.theme.heroImageId", problem.FieldInvalid, message)
	}
	for _, p := range sitePictures(site) {
		if !slices.Contains(selection.GetPictureIds(), **p.id) {
			errs.Add(p.field, problem.FieldInvalid, message)
		}
	}
}

// withKnownPictures returns the site without the pictures that are not known, which a player would see as broken.
func withKnownPictures(site *tenantsv1.GiftSite, known []string) *tenantsv1.GiftSite {
	site = proto.CloneOf(site) // Settings are shared by all requests.
	for _, p := range sitePictures(site) {
		if !slices.Contains(known, **p.id) {
			*p.id = nil
		}
	}
	return site
}
