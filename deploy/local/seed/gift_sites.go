package seed

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"google.golang.org/protobuf/proto"

	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// themes are the looks of the demo brands, by slug.
var themes = map[string]*tenantsv1.Theme{
	"nordlys-casino": {
		AccentColour: proto.String("#0B7A75"), Typeface: tenantsv1.Typeface_TYPEFACE_GROTESK,
		Corners: tenantsv1.CornerStyle_CORNER_STYLE_SOFT,
	},
	"polar-spins": {
		Typeface: tenantsv1.Typeface_TYPEFACE_HUMANIST, Corners: tenantsv1.CornerStyle_CORNER_STYLE_ROUND,
	},
	"fjord-live": {ColourScheme: tenantsv1.ColourScheme_COLOUR_SCHEME_LIGHT},
	"rheingold": {
		AccentColour: proto.String("#6B1D2E"), Typeface: tenantsv1.Typeface_TYPEFACE_SERIF,
		Corners: tenantsv1.CornerStyle_CORNER_STYLE_SQUARE,
	},
	"lorelei-bingo": {
		Typeface: tenantsv1.Typeface_TYPEFACE_SERIF, Corners: tenantsv1.CornerStyle_CORNER_STYLE_ROUND,
		ColourScheme: tenantsv1.ColourScheme_COLOUR_SCHEME_DARK,
	},
}

// senders are the names of those who sign the notes of demo brands, by slug.
var senders = map[string]string{"nordlys-casino": "Maja Sandström"}

// putGiftSite puts links, theme and delivery times of a brand.
func (s *seeder) putGiftSite(ctx context.Context, tenantID string, brand *tenantsv1.Brand) error {
	hero, err := s.uploadBrandPicture(ctx, tenantID, brand, "hero-", catalogv1.BrandPictureKind_BRAND_PICTURE_KIND_HERO)
	if err != nil {
		return fmt.Errorf("hero picture: %w", err)
	}
	home := "https://" + brand.GetSlug() + ".example"
	theme := proto.CloneOf(themes[brand.GetSlug()])
	theme.HeroImageId = hero
	if theme.DarkLogoImageId, err = s.uploadDarkLogo(ctx, tenantID, brand); err != nil {
		return fmt.Errorf("dark logo: %w", err)
	}
	site := &tenantsv1.GiftSite{
		PrivacyUrl: proto.String(home + "/privacy"), TermsUrl: proto.String(home + "/gift-terms"),
		ImprintUrl: proto.String(home + "/imprint"),
		SupportUrl: proto.String("mailto:vip@" + brand.GetSlug() + ".example"), HomeUrl: proto.String(home + "/vip"), Theme: theme,
		DeliveryTimes: deliveryTimes(),
	}
	if name, ok := senders[brand.GetSlug()]; ok {
		if site.Sender, err = s.uploadSender(ctx, tenantID, brand, name); err != nil {
			return fmt.Errorf("sender: %w", err)
		}
	}
	_, err = s.tenants.PutGiftSite(ctx, &tenantsv1.PutGiftSiteRequest{
		Actor: Installer, TenantId: tenantID, BrandId: brand.GetId(), Site: site,
	})
	return err
}

// businessDays are how long gifts take to a country of each region, the least and the most. For other regions the gift site shows
// no delivery time.
var businessDays = map[string][2]int32{
	"NORDICS": {2, 4}, "CENTRAL_EUROPE": {3, 5}, "SOUTHERN_EUROPE": {4, 7}, "BRITISH_ISLES": {5, 8}, "NORTH_AMERICA": {7, 10},
}

// deliveryTimes are those of all demo brands, which ship from Sweden.
func deliveryTimes() (times []*tenantsv1.DeliveryTime) {
	for _, r := range regions {
		days, known := businessDays[r.code]
		if !known {
			continue
		}
		for _, country := range r.countries {
			to := &tenantsv1.DeliveryTime{Country: country, MinBusinessDays: days[0], MaxBusinessDays: days[1]}
			if country == "SE" {
				to.MaxBusinessDays = to.GetMinBusinessDays()
			}
			times = append(times, to)
		}
	}
	return times
}

// uploadSender returns who signs the notes of a brand, after it has stored both pictures.
func (s *seeder) uploadSender(
	ctx context.Context, tenantID string, brand *tenantsv1.Brand, name string,
) (*tenantsv1.Sender, error) {
	portrait, err := s.uploadBrandPicture(ctx, tenantID, brand, "portrait-",
		catalogv1.BrandPictureKind_BRAND_PICTURE_KIND_PORTRAIT)
	if err != nil {
		return nil, err
	}
	signature, err := s.uploadBrandPicture(ctx, tenantID, brand, "signature-",
		catalogv1.BrandPictureKind_BRAND_PICTURE_KIND_SIGNATURE)
	return &tenantsv1.Sender{Name: &name, PortraitImageId: portrait, SignatureImageId: signature}, err
}

// uploadBrandPicture stores the brand's picture whose name begins with prefix, and returns its id. With few pictures it does
// neither.
func (s *seeder) uploadBrandPicture(
	ctx context.Context, tenantID string, brand *tenantsv1.Brand, prefix string, kind catalogv1.BrandPictureKind,
) (*string, error) {
	if s.sharedPicture != "" {
		return nil, nil
	}
	content, err := Image(prefix + brand.GetSlug())
	if err != nil {
		return nil, err
	}
	stored, err := s.logos.UploadBrandHero(ctx, &catalogv1.UploadBrandHeroRequest{
		TenantId: tenantID, BrandId: brand.GetId(), Content: content, Kind: kind,
	})
	if err != nil {
		return nil, err
	}
	return proto.String(stored.GetFileId()), nil
}

// uploadDarkLogo stores a brand's logo for dark pages and returns its id, nil if the brand has none.
func (s *seeder) uploadDarkLogo(ctx context.Context, tenantID string, brand *tenantsv1.Brand) (*string, error) {
	content, err := Image("logo-" + brand.GetSlug() + "-dark")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	logo, err := s.logos.UploadBrandLogo(ctx, &catalogv1.UploadBrandLogoRequest{
		TenantId: tenantID, BrandId: brand.GetId(), Content: content, OnDark: true,
	})
	if err != nil {
		return nil, err
	}
	return proto.String(logo.GetFileId()), nil
}

// greetings are those of the demo campaign of Direct.
func greetings() []*catalogv1.CampaignGreeting {
	return []*catalogv1.CampaignGreeting{
		{Locale: "en-US", Text: `Happy midsummer!
Thank you for a wonderful year with us. Here is a little something from all of us: pick what you like.`},
		{Locale: "sv-SE", Text: `Glad midsommar!
Tack för ett fantastiskt år med oss. Här är något litet från oss alla: välj det du tycker om.`},
		{Locale: "de-DE", Text: `Fröhlichen Mittsommer!
Danke für ein wunderbares Jahr mit uns. Hier ist eine Kleinigkeit von uns allen: Suchen Sie sich etwas Schönes aus.`},
	}
}

func (s *seeder) putGreetings(ctx context.Context) error {
	_, err := s.campaigns.SetCampaignGreetings(ctx, &catalogv1.SetCampaignGreetingsRequest{
		TenantId: Direct, CampaignId: Campaign, Actor: Installer, Greetings: greetings(),
	})
	return err
}
