package site

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestSearch types words that readers come with, from a page that is not at the top, and follows the first answer that is in the document
// that has it.
func TestSearch(t *testing.T) {
	address := served(t)
	ctx := browser(t, address)
	all := pages(t, folder(t))
	for words, in := range map[string]string{"quorum": "operations/", "PodCannotStart": "reasons/#podcannotstart", "passphrase": "backup-and-restore/"} {
		for device, width := range widths {
			t.Run(words+" on a "+device, func(t *testing.T) {
				answer := fmt.Sprintf(`#search li a[href*="%s"]`, in)
				do(ctx, t, sized(width), chromedp.Navigate(address+"runbooks/EtcdStuck/"), chromedp.Click(chromedp.CSS("#find")),
					chromedp.SendKeys(chromedp.CSS("#search input"), words), chromedp.WaitVisible(chromedp.CSS(answer)))
				picture(ctx, t, device+"-search-"+words)
				to := evaluate[string](ctx, t, fmt.Sprintf("document.querySelector(`%s`).href", answer))
				do(ctx, t, chromedp.Click(chromedp.CSS(answer)), chromedp.WaitNotVisible(chromedp.CSS("#search")))
				at, err := url.Parse(to)
				if err != nil || !strings.HasPrefix(to, address) {
					t.Fatalf("the answer leads to %s: %v", to, err)
				}
				if page := all[strings.TrimPrefix(at.Path, under)+"index.html"]; at.Fragment != "" && !page.ids[at.Fragment] {
					t.Errorf("the answer leads to %s, which has no such anchor", to)
				}
				if text := evaluate[string](ctx, t, `document.querySelector("article").textContent`); !strings.Contains(strings.ToLower(text), strings.ToLower(words)) {
					t.Errorf("the answer leads to %s, which does not have %q", to, words)
				}
			})
		}
	}
}
