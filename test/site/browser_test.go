package site

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/etcdpilot/etcd-operator/hack/tool/build"
)

// under is the path that the site is served from: any must do.
const under = "/some/path/"

// widths are those of a desktop's window and of a phone.
var widths = map[string]int64{"desktop": 1280, "phone": 390}

// served gives the address of the site on a server that fails the test if it is asked for what is not there.
func served(t *testing.T) string {
	t.Helper()
	files := http.FileServer(http.Dir(folder(t)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, under)
		if _, err := os.Stat(filepath.Join(folder(t), path.Clean("/"+name))); err != nil || name == r.URL.Path {
			t.Errorf("the browser asked for %s, which is not there", r.URL.Path)
		}
		http.StripPrefix(strings.TrimSuffix(under, "/"), files).ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL + under
}

// browser starts Chromium, which has to ask the server at that address and no other.
func browser(t *testing.T, address string) context.Context {
	t.Helper()
	if err := build.EnsurePrograms(t.Context(), t.Output(), []build.Need{{Program: "chromium", Package: "chromium"}}); err != nil {
		t.Fatal(err)
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath("chromium"))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // it refuses to run as root with it
	}
	ctx, stop := chromedp.NewExecAllocator(t.Context(), options...)
	ctx, closeTab := chromedp.NewContext(ctx)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	var watching sync.WaitGroup
	t.Cleanup(func() { closeTab(); stop(); watching.Wait() })
	requests := chromedp.Events(ctx, network.RequestWillBeSent)
	watching.Go(func() {
		for request, err := range requests {
			if err == nil && !strings.HasPrefix(request.Request.URL, address) && !strings.HasPrefix(request.Request.URL, "data:") {
				t.Errorf("%s has the browser ask for %s", request.DocumentURL, request.Request.URL)
			}
		}
	})
	return ctx
}

// do has the browser do something that must take no longer than a minute.
func do(ctx context.Context, t *testing.T, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	limited, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := chromedp.Do(limited, steps...); err != nil {
		t.Fatal(err)
	}
}

// evaluate gives what an expression is in the page that the browser shows.
func evaluate[T any](ctx context.Context, t *testing.T, expression string) T {
	t.Helper()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return value
}

// sized makes the window that wide. A phone's browser makes room for what is too wide by showing all of it smaller.
func sized(width int64) chromedp.Action[chromedp.Void] {
	if width < 600 {
		return chromedp.EmulateViewport(width, 844, chromedp.EmulateMobile)
	}
	return chromedp.EmulateViewport(width, 800)
}

// picture writes what the browser shows into the folder that PICTURES names, for people to look at.
func picture(ctx context.Context, t *testing.T, name string) {
	t.Helper()
	dir := os.Getenv("PICTURES")
	if dir == "" {
		return
	}
	image, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), image, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestWidths checks that no page is wider than the window: what is wider than a column scrolls in a box of its own.
func TestWidths(t *testing.T) {
	address := served(t)
	ctx := browser(t, address)
	for device, width := range widths {
		do(ctx, t, sized(width))
		for file, page := range pages(t, folder(t)) {
			do(ctx, t, chromedp.Navigate(address+strings.TrimSuffix(file, "index.html")))
			if got := evaluate[int64](ctx, t, "document.documentElement.scrollWidth"); got > width {
				t.Errorf("%s is %d pixels wide on a %s", page.document, got, device)
			}
			if got := evaluate[float64](ctx, t, `parseFloat(getComputedStyle(document.querySelector("article p")).fontSize)`); got < 14 {
				t.Errorf("%s has text of %v pixels on a %s", page.document, got, device)
			}
			picture(ctx, t, fmt.Sprintf("%s-%s", device, strings.ReplaceAll(strings.TrimSuffix(page.document, ".md"), "/", "-")))
		}
	}
}

// TestMenu checks that the menu is beside the text on a desktop, and opens and leads on on a phone.
func TestMenu(t *testing.T) {
	address := served(t)
	ctx := browser(t, address)
	const entry = `#menu a[href$="autopilot/"]`
	for device, width := range widths {
		do(ctx, t, sized(width), chromedp.Navigate(address))
		if device == "phone" {
			do(ctx, t, chromedp.WaitNotVisible(chromedp.CSS(entry)), chromedp.Click(chromedp.CSS("header .open")))
		}
		do(ctx, t, chromedp.WaitVisible(chromedp.CSS(entry)))
		picture(ctx, t, device+"-menu")
		do(ctx, t, chromedp.Click(chromedp.CSS(entry)), chromedp.WaitVisible(chromedp.CSS("h1#auto-pilot")))
		if device == "phone" {
			do(ctx, t, chromedp.WaitNotVisible(chromedp.CSS(entry)))
		}
	}
}
