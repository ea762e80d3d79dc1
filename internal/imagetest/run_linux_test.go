// How the image runs: as the user it names, on a root that is read-only, without
// capabilities, with nothing of this machine but its network.

package imagetest

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"keyhealth/internal/exportertest"
	"keyhealth/internal/redistest"
)

// patience is how long a wait may take on a busy machine.
const patience = 2 * time.Minute

// container runs an image.
type container struct {
	dir    string // its files
	config imageConfig
}

func newContainer(t *testing.T, dir string, config imageConfig) container {
	t.Helper()
	for _, program := range []string{"unshare", "setpriv", "chroot"} {
		redistest.Require(t, program)
	}
	// An engine mounts it, and makes the folder where the image has none.
	if err := os.Mkdir(filepath.Join(dir, "proc"), 0o555); err != nil {
		t.Fatal(err)
	}
	return container{dir, config}
}

// confine is for a shell in mounts of its own, with the folder, the user and the
// command as arguments. Three capabilities are left to chroot, which gives them
// up with root; no-new-privs keeps them away.
const confine = `
mount --bind "$0" "$0" &&
mount -o remount,bind,ro,nosuid,nodev "$0" &&
mount -t proc proc "$0/proc" &&
user=$1 && shift &&
exec setpriv --no-new-privs --bounding-set=-all,+sys_chroot,+setuid,+setgid \
	chroot --userspec="$user" --groups= "$0" "$@"`

// command is the image's entry point, ready to run. Every step executes the next
// in its place: the process that is started is keyhealth's.
func (c container) command(env []string, args ...string) *exec.Cmd {
	words := slices.Concat([]string{"--mount", "--propagation", "private", "sh", "-c", confine, c.dir, c.config.Config.User},
		c.config.Config.Entrypoint, args)
	cmd := exec.Command("unshare", words...)
	cmd.Env = append(slices.Clone(c.config.Config.Env), env...)
	return cmd
}

func (c container) version(t *testing.T) {
	out, err := c.command(nil, "--version").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"keyhealth, version " + testVersion + " ", "revision: " + testRevision + ")"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q is missing in:\n%s", want, out)
		}
	}
}

var listening = regexp.MustCompile(`msg="Listening on" address=(\S+)`)

func (c container) serve(t *testing.T) {
	server := redistest.Start(t)
	redistest.Fill(t, server, `for i = 1, 30 do redis.call('SET', 'rate_limit:' .. i, 1) end`)
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	cmd := c.command([]string{
		"KEYHEALTH_REDIS_URL=" + server.URL(),
		"KEYHEALTH_GROUPS=api=rate_limit:*@60s",
		"KEYHEALTH_WEB_LISTEN_ADDRESS=127.0.0.1:0",
	}, "serve")
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	defer func() {
		_ = cmd.Process.Kill()
		<-ended
		if t.Failed() {
			t.Logf("keyhealth printed:\n%s", readFile(t, log.Name()))
		}
	}()

	var address string
	eventually(t, "keyhealth listens", func() bool {
		found := listening.FindSubmatch(readFile(t, log.Name()))
		if found != nil {
			address = string(found[1])
		}
		return found != nil
	})
	wantConfined(t, cmd.Process.Pid)
	eventually(t, "a sweep has found the keys", func() bool {
		metrics, err := exportertest.Parse(get(t, "http://"+address+"/metrics"))
		if err != nil {
			t.Fatal(err)
		}
		return slices.Equal(metrics.Values("keyhealth_group_zombie_keys", "group=api"), []float64{30}) &&
			metrics.Is("process_resident_memory_bytes", ">=", 1)
	})
	for _, path := range []string{"/-/ready", "/-/healthy"} { // the probes of deploy/kubernetes.yaml
		get(t, "http://"+address+path)
	}

	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
		if code := cmd.ProcessState.ExitCode(); code != 0 {
			t.Errorf("exit code %d after SIGTERM", code)
		}
	case <-time.After(patience):
		t.Error("keyhealth does not end after SIGTERM")
	}
}

// wantConfined reads from the kernel what the process may do.
func wantConfined(t *testing.T, pid int) {
	t.Helper()
	proc := fmt.Sprintf("/proc/%d", pid)
	status := string(readFile(t, proc, "status"))
	for _, want := range []string{
		"Name:\tkeyhealth",
		"Uid:\t65532\t65532\t65532\t65532",
		"Gid:\t65532\t65532\t65532\t65532",
		"Groups:\t ",
		"CapInh:\t0000000000000000",
		"CapPrm:\t0000000000000000",
		"CapEff:\t0000000000000000",
		"CapAmb:\t0000000000000000",
		"NoNewPrivs:\t1",
	} {
		if !strings.Contains("\n"+status, "\n"+want+"\n") {
			t.Errorf("%q is missing in:\n%s", want, status)
		}
	}
	mounts := string(readFile(t, proc, "mountinfo"))
	if !regexp.MustCompile(`(?m)^\d+ \d+ \S+ \S+ / ro,`).MatchString(mounts) {
		t.Errorf("the root is not read-only:\n%s", mounts)
	}
}

// get fetches a page that must be there.
func get(t *testing.T, url string) []byte {
	t.Helper()
	client := &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: status %d, error %v", url, response.StatusCode, err)
	}
	return body
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("after %v it is not so that %s", patience, what)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
