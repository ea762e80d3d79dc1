package incident

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

// folderEnv names another folder of incidents, instead of this repository's.
const folderEnv = "TEST_KEYHEALTH_INCIDENTS_DIR"

const testdata = "../../testdata"

// atATime is how many stories run at once. They wait more than they work.
const atATime = 4

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestIncidents runs every story: an incident fires what it names and nothing else,
// a healthy keyspace fires nothing at all.
func TestIncidents(t *testing.T) {
	if other := os.Getenv(folderEnv); other != "" {
		runFolder(t, other)
		return
	}
	incidents, whole := runFolder(t, filepath.Join(testdata, "incidents"))
	healthy, all := runFolder(t, filepath.Join(testdata, "healthy"))
	if whole && all && !t.Failed() { // not with -run of one story
		wantPage(t, incidents, healthy)
	}
}

// runFolder runs the files of a folder, and says whether each was run.
func runFolder(t *testing.T, folder string) (results map[string]Result, whole bool) {
	t.Helper()
	files, err := ReadFolder(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Run(filepath.Base(folder), func(t *testing.T) { results = runAll(t, files, filepath.Base(folder) == "healthy") })
	return results, len(results) == len(files)
}

// runAll runs files side by side, not bound to the number of cores, and answers
// their results by path.
func runAll(t *testing.T, files []File, silent bool) map[string]Result {
	var mu sync.Mutex
	results := map[string]Result{}
	queue := make(chan File)
	var workers sync.WaitGroup
	for range atATime {
		workers.Go(func() {
			for f := range queue {
				t.Run(f.Name, func(t *testing.T) {
					result := run(t, f)
					if report := result.Report(silent); report != "" {
						t.Errorf("%s", report)
					}
					mu.Lock()
					defer mu.Unlock()
					results[f.Path] = result
				})
			}
		})
	}
	for _, f := range files {
		queue <- f
	}
	close(queue)
	workers.Wait()
	return results
}
