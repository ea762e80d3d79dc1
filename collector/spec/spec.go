// What a target is and how it is swept, as plain values. Where they come from
// (environment, file, flags) is none of this package's business.

package spec

import (
	"time"

	"keyhealth/collector/classify"
)

// Target is one Redis deployment and how to watch it.
type Target struct {
	Name      string   // value of the label "target"
	Endpoint  Endpoint // where it is; of a Cluster or a Sentinel set the seed that is asked first
	Seeds     []string // further addresses to ask, host:port
	Cluster   ClusterMode
	Sentinel  *Sentinel         // nil: the address is no Sentinel
	Replicas  bool              // sweep a replica that is in sync, in a Cluster or Sentinel set
	Databases []int             // the databases to sweep; none: all of them
	Rules     []classify.Rule   // the groups, in order: the first match wins
	Presets   []classify.Preset // known groups that take what no rule does
	Discovery classify.Discovery
	MaxGroups int // pairs of a database and a group that are shown, rules included
	Sweep     Sweep
	SelfTest  time.Duration // how often the limiter's self-test is to be run here, by whoever runs it; 0: never
}

// DefaultMaxGroups is the documented default of Target.MaxGroups.
const DefaultMaxGroups = 100

// Endpoint is the address of a Redis server and how to be let in.
type Endpoint struct {
	Network      string // "tcp" or "unix"
	Address      string // host:port, or the path of the socket
	Username     string
	Password     string
	PasswordFile string // read again at each connect; used where Password is empty
	TLS          *TLS   // nil: no TLS
	Timeout      time.Duration
}

// ClusterMode says whether the nodes of a Cluster are followed.
type ClusterMode int

// What to take an address for.
const (
	ClusterAuto   ClusterMode = iota // for what it says it is
	ClusterAlways                    // for a node of a Cluster, and nothing else
	ClusterNever                     // for a single server, such as a proxy in front of a Cluster
)

// Sentinel is how to ask the Sentinels at the target's addresses for its servers.
type Sentinel struct {
	Master       string // name of the set
	Username     string // of the Sentinels themselves
	Password     string
	PasswordFile string
}

// TLS names the files of a TLS connection; they are read again at each connect.
type TLS struct {
	CAFile     string // PEM; empty: the system's authorities
	CertFile   string // PEM client certificate; needs KeyFile
	KeyFile    string
	ServerName string // empty: the host of the address
	SkipVerify bool
}

// Sweep bounds a sweep's cost and says how often one starts.
type Sweep struct {
	Interval      time.Duration // start to start
	MaxKeys       int64         // the budget: keys a sample examines per database; 0: every key
	Duty          float64       // largest share of time the node is kept busy, 0 < Duty <= 1
	ScanCount     int           // keys a batch, 10 to 1000
	Timeout       time.Duration // a longer sweep fails; 0: none
	StaleAfter    time.Duration // 0: 3 x max(Interval, the last complete sweep)
	MemorySamples int           // MEMORY USAGE calls a group and sweep; 0: off
	BigKeys       BigKeySearch
	FullEvery     time.Duration // a sampled database is walked whole this often, between samples; 0: never
	FullTimeout   time.Duration // such a walk that takes longer fails; 0: none
	Pool          int           // samples that a group with few keys in one takes its figures from; 0: 1
}

// BigKeySearch says which keys are big, and how hard to look for them.
type BigKeySearch struct {
	Bytes    int64 // from this size on, by MEMORY USAGE
	Elements int64 // or from this number of elements on
	Budget   int   // calls a sweep; 0: no search
}

// DefaultSweep has the documented defaults.
func DefaultSweep() Sweep {
	return Sweep{
		Interval:      time.Minute,
		MaxKeys:       100_000,
		Duty:          0.10,
		ScanCount:     100,
		Timeout:       10 * time.Minute,
		MemorySamples: 50,
		BigKeys:       BigKeySearch{Bytes: 1 << 20, Elements: 10_000, Budget: 1000},
		Pool:          10,
	}
}
