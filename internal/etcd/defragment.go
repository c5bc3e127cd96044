package etcd

import (
	"context"
	"crypto/tls"
	"fmt"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/etcdclient"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// jobLimit is how long a defragmentation is waited for. etcd does not stop one that nobody waits for.
const jobLimit = 30 * time.Minute

// job is a defragmentation that this process has asked for.
type job struct {
	endpoint Endpoint
	begun    time.Time
	cancel   context.CancelFunc
}

// Defragmented is a defragmentation that is over.
type Defragmented struct {
	Pod string
	// Took is for how long the member served nobody, and Freed how many bytes it has given back to the disk.
	Took  time.Duration
	Freed int64
	// Err is why it has failed, nil if it has not.
	Err error
}

// Defragment has one member write its database anew, without the free pages, and returns once it has: nothing but the context limits how
// long that takes. The member serves nobody meanwhile, so whoever asks for it knows that the others are a quorum.
func (p *Pool) Defragment(ctx context.Context, cluster string, config *tls.Config, e Endpoint) error {
	client, err := p.client(cluster, config, e)
	if err != nil {
		return err
	}
	if err := client.Defragment(ctx); err != nil {
		return fmt.Errorf("defragment %s: %w", e.Pod, err)
	}
	return nil
}

// BeginDefragment has one member write its database anew, and returns before it has: that takes longer than a pass may. Databases tells that
// it is under way, and TakeFinished what has become of it. There is one of a cluster at a time; another one is ErrNotYet. The request leaves before
// the context ends, or never.
func (p *Pool) BeginDefragment(ctx context.Context, cluster string, config *tls.Config, e Endpoint) error {
	client, err := connect(config, e) // one of its own, because those of a pass are closed when the next one is far
	if err != nil {
		return fmt.Errorf("connect to %s: %w", e.Address, err)
	}
	asking, done := context.WithTimeout(ctx, statusTimeout) // etcd 3.6 and later do not answer while they defragment
	before, err := client.Status(asking)                    // from here on it is connected
	if done(); err == nil {
		err = ctx.Err()
	}
	limited, cancel := context.WithTimeout(context.Background(), jobLimit)
	j := &job{endpoint: e, begun: time.Now(), cancel: cancel}
	if err == nil && !p.begin(cluster, j) {
		err = ErrNotYet
	}
	if err != nil {
		cancel()
		_ = client.Close()
		return fmt.Errorf("defragment %s: %w", e.Pod, err)
	}
	p.jobs.Go(func() {
		defer cancel()
		defer func() { _ = client.Close() }()
		p.defragment(limited, cluster, client, j, size{before.GetDbSize(), before.GetDbSizeInUse()})
	})
	return nil
}

func (p *Pool) begin(cluster string, j *job) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	u := p.upkeepOf(cluster)
	if u.job != nil {
		return false
	}
	u.job = j
	return true
}

// size is that of a database's file, and what of it is in use, in bytes.
type size struct{ file, inUse int64 }

// defragment waits for the member, and remembers what has become of it.
func (p *Pool) defragment(ctx context.Context, cluster string, client *etcdclient.Client, j *job, before size) {
	begun, e := time.Now(), j.endpoint
	err := client.Defragment(ctx)
	took, after := time.Since(begun), before
	if err == nil {
		asking, cancel := context.WithTimeout(ctx, statusTimeout)
		defer cancel()
		if status, err := client.Status(asking); err == nil {
			after = size{status.GetDbSize(), status.GetDbSizeInUse()}
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	u := p.upkeeps[cluster]
	if u == nil || u.job != j { // the cluster was forgotten, or the pool closed
		return
	}
	if u.job = nil; err != nil {
		u.looked = 0 // the member may be at it all the same
	} else {
		delete(u.busy, e.PodUID)
	}
	delete(u.rests, e.PodUID)
	last := plan.Defragmentation{At: time.Now(), Free: after.file - after.inUse, Failed: err != nil}
	if err == nil {
		last.Vain = vain(u.last[e.PodUID].Vain, before, after)
		u.rate = rateOf(u.rate, before, took)
	}
	u.last[e.PodUID] = last
	u.finished = append(u.finished, Defragmented{Pod: e.Pod, Took: took, Freed: before.file - after.file, Err: err})
}

// vain is how many defragmentations in a row have made the file less than a tenth smaller, after so many had.
func vain(had int, before, after size) int {
	const tenth = 10
	if before.file-after.file < before.file/tenth {
		return had + 1
	}
	return 0
}

// measurable is from how many bytes in use on a defragmentation tells how fast the disk is, and not how long it takes to begin one.
const measurable = 64 << 20

// rateOf is how many bytes a second a member has written anew, and what was known before if that does not tell.
func rateOf(known int64, before size, took time.Duration) int64 {
	if rate := int64(float64(before.inUse) / took.Seconds()); before.inUse >= measurable && rate > 0 {
		return rate
	}
	return known
}

// TakeFinished returns the defragmentations of a cluster that have ended since the last call, and forgets them.
func (p *Pool) TakeFinished(cluster string) []Defragmented {
	p.mu.Lock()
	defer p.mu.Unlock()
	u := p.upkeeps[cluster]
	if u == nil {
		return nil
	}
	finished := u.finished
	u.finished = nil
	return finished
}

// abandonJobs waits for no defragmentation any more. etcd goes on with it, so the members are asked what they are at before anything else is
// begun, as by a process that has just started. The lock is held.
func (p *Pool) abandonJobs() {
	for _, u := range p.upkeeps {
		if u.job != nil {
			u.job.cancel()
			u.job, u.looked = nil, 0
		}
	}
}

// forgetUpkeep forgets the databases of a cluster that is gone, and waits for none of them. The lock is held.
func (p *Pool) forgetUpkeep(cluster string) {
	if u := p.upkeeps[cluster]; u != nil && u.job != nil {
		u.job.cancel()
	}
	delete(p.upkeeps, cluster)
}
