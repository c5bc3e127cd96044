package plan

// Exit is the word that member-run left when it refused to start etcd.
type Exit string

// Exits of member-run.
const (
	ExitNone Exit = ""
	// ExitDataLost means that there is no write-ahead log and no unused permit to start without one.
	ExitDataLost Exit = "DataLost"
	// ExitForeignData means that the directory holds the data of another member or cluster.
	ExitForeignData Exit = "ForeignData"
	// ExitUnreadable means that the data could not be read this time, ExitBadConfig that etcd cannot be run as asked.
	// Neither says that the data is gone.
	ExitUnreadable Exit = "Unreadable"
	ExitBadConfig  Exit = "BadConfig"
	// ExitCorrupt means that etcd itself ends again and again and says that its data is damaged.
	ExitCorrupt Exit = "Corrupt"
)

// Terminal tells whether the member can never start again from what is in its directory.
func (e Exit) Terminal() bool { return e == ExitDataLost || e == ExitForeignData }
