//go:build browser

package giftsite_test

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// arabicPage is a link whose brand, gifts and message are in Arabic.
func (f *fixture) arabicPage() *linksv1.GetClaimPageResponse {
	page := f.withLook(f.openPage("ar", "#1B4B8F"))
	page.Label, page.Greeting = "ليلى", proto.String("تهانينا!\nهدية تليق بالأمسيات الطويلة بانتظارك.")
	page.Message = proto.String("شكرًا لك على خمس سنوات معنا في Nordlys.")
	translate(page, [][2]string{
		{"ترافل داكن، علبة من 24 قطعة", "ترافل مصنوع يدويًا من الكاكاو بنسبة 70% في علبة مكسوّة بالكتان."},
		{"قارورة فولاذية", "تُبقي المشروب باردًا طوال اليوم، والشاي ساخنًا طوال الصباح."},
		{"سترة بقلنسوة", "قطن عضوي ثقيل، ناعم من الداخل."},
		{"مزهرية زجاجية", "منفوخة يدويًا في سمولاند."},
		{"شمعة معطّرة", "برائحة البتولا وملح البحر، تشتعل ستين ساعة."},
	}, map[string]string{
		"0.5 l": "0.5 لتر", "0.75 l": "0.75 لتر", "Steel": "فولاذي", "White": "أبيض", "Black": "أسود", "Navy": "كحلي", "Grey": "رمادي",
	}, [3]string{
		"فولاذ مقاوم للصدأ", "العرض 7 سم", "مصنوعة من قطعة واحدة من الفولاذ.\n\nليس فيها وصلات، فلا يتسرّب منها شيء.",
	})
	return page
}

// requireRightToLeft requires that the page begins at the right, and that nothing sticks out of it at either side.
func (b *browser) requireRightToLeft(t *testing.T) {
	t.Helper()
	require.Equal(t, "rtl", b.value(t, "getComputedStyle(document.documentElement).direction"))
	outside := get(t, b, chromedp.Evaluate[[]string](`[...document.querySelectorAll("main *, footer *")]
		.filter((e) => e.checkVisibility() && !e.closest(".unseen, .filters"))
		.filter((e) => { const box = e.getBoundingClientRect(); return box.left < -1 || box.right > innerWidth + 1; })
		.map((e) => e.outerHTML.slice(0, 100))`))
	require.Empty(t, outside)
	// Words that are not centred begin at the right edge of their block.
	const blocks = `[...document.querySelectorAll("h1, h2, h3, label, dt, dd, p, legend, blockquote")]`
	leftward := get(t, b, chromedp.Evaluate[[]string](blocks+`
		.filter((e) => e.checkVisibility() && !e.closest(".unseen, .skip") && e.childElementCount === 0 && e.textContent.trim() !== "")
		.filter((e) => getComputedStyle(e).textAlign !== "center")
		.filter((e) => {
			const range = document.createRange();
			range.selectNodeContents(e);
			const words = range.getBoundingClientRect(), box = e.getBoundingClientRect(), style = getComputedStyle(e);
			return Math.abs(box.right - parseFloat(style.paddingRight) - parseFloat(style.borderRightWidth) - words.right) > 2;
		})
		.map((e) => e.outerHTML.slice(0, 100))`))
	require.Empty(t, leftward, "words at the left")
}

func TestPagesAreReadFromRightToLeftInArabic(t *testing.T) {
	onEveryScreen(t, func(t *testing.T, f *fixture, b *browser) {
		f.reset(f.arabicPage())
		b.eachPageOf(t, f, func(name string) {
			b.inspectSchemes(t, "44-"+name+"-arabic")
			b.requireRightToLeft(t)
			if name == "gift" && b.screen.name == "desktop" {
				require.Greater(t, b.left(t, ".gallery"), b.left(t, ".aside"), "the picture is at the right of the words")
			}
		})
		b.do(t, chromedp.SetValue(chromedp.CSS("#word"), "So kind of you!")) // In the other direction.
		b.press(t, "form .quiet")
		b.inspect(t, "44-thanked-arabic")
		b.requireRightToLeft(t)
	})
}

func (b *browser) left(t *testing.T, selector string) float64 {
	t.Helper()
	return get(t, b, chromedp.Evaluate[float64](`document.querySelector("`+selector+`").getBoundingClientRect().left`))
}
