package etcdbackup_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// backupStopped stops the operator before and after each of its writes: there is one pod, and one backup.
func backupStopped(t *testing.T, w *backups) {
	const most = 20
	for stop := range most {
		for _, before := range []bool{true, false} {
			name := fmt.Sprintf("b-%d-%v", stop, before)
			w.backup(t, name, hourly)
			broken, made := w.breaking(stop, before)
			served := map[string]bool{}
			for range most {
				if _, err := w.step(t, name, broken); err != nil && !errors.Is(err, errStopped) {
					t.Fatalf("%s: %v", name, err)
				}
				for _, pod := range w.pods(t, name) {
					if !served[pod.Name] {
						w.Ends(t, &pod, w.taken(1, 1))
					}
					served[pod.Name] = true
				}
			}
			s := w.read(t, name).Status
			if len(served) != 1 || !s.Succeeded || s.Run != nil || s.LastScheduleTime == nil || len(w.pods(t, name)) > 0 {
				t.Fatalf("%s: %d pods, %+v", name, len(served), s)
			}
			if *made < stop && before {
				return // it has fewer writes than that
			}
		}
	}
	t.Fatalf("a backup takes more than %d writes", most)
}

var errStopped = errors.New("the operator was stopped")

// breaking is a client that fails once, before or after the write of that number.
func (w *backups) breaking(stop int, before bool) (client.Client, *int) {
	n := new(int)
	write := func(do func() error) error {
		*n++
		if *n-1 != stop {
			return do()
		}
		if !before {
			_ = do() // what becomes of it is for the next operator to see
		}
		return errStopped
	}
	return interceptor.NewClient(w.operator, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			return write(func() error { return c.Create(ctx, o, opts...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			return write(func() error { return c.Delete(ctx, o, opts...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			return write(func() error { return c.Patch(ctx, o, p, opts...) })
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object,
			opts ...client.SubResourceUpdateOption,
		) error {
			return write(func() error { return c.SubResource(sub).Update(ctx, o, opts...) })
		},
	}), n
}
