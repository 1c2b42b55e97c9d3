package check

import "github.com/reverie-memory/reverie/internal/finding"

// Rules lists every rule; docs/sharing.md lists them in this order.
var Rules = finding.Rules{
	{
		ID: "format", Level: finding.Error,
		Short: "A file does not have the form that FORMAT.md describes.",
		Help:  "Put right what the message names; 'reverie edit' and 'reverie remember' write the form by themselves.",
	},
	{
		ID: "entry", Level: finding.Error,
		Short: "The tree has an entry that a memory must not have: a link, a submodule, an executable file, a dangerous name.",
		Help:  "Remove it from the branch.",
	},
	{
		ID: "unknown-file", Level: finding.Error,
		Short: "A file is nothing of Reverie's.",
		Help:  "Remove it from the branch: it holds memories and what belongs to them.",
	},
	{
		ID: "immutable", Level: finding.Error,
		Short: "Something changed that never changes: a memory's id, source, ref, supersedes or path.",
		Help:  "Put it back. A statement that says something else is a new memory that supersedes the old one.",
	},
	{
		ID: "deleted", Level: finding.Warning,
		Short: "A file of the memory is deleted.",
		Help:  "Retire a memory instead ('reverie forget'), or clones that still know it bring it back.",
	},
	{
		ID: "conflict-marker", Level: finding.Error,
		Short: "A file holds the markers of a merge that was left unfinished.",
		Help:  "Keep what is right and take the markers out.",
	},
	{
		ID: "contested", Level: finding.Warning,
		Short: "A memory has several variants that a merge could not decide between.",
		Help:  "Keep one: 'reverie edit ID --take NUMBER'.",
	},
	{
		ID: "duplicate", Level: finding.Warning,
		Short: "A statement says what another memory says.",
		Help:  "Keep one of them, or make the difference clear.",
	},
	{
		ID: "contradiction", Level: finding.Warning,
		Short: "A ruling on a topic on which another memory rules otherwise.",
		Help:  "Retire one, or say in both where each holds.",
	},
	{
		ID: "retired", Level: finding.Warning,
		Short: "A memory that was retired comes back.",
		Help:  "Look up why it was retired: 'reverie log ID'.",
	},
	{
		ID: "constraint", Level: finding.Warning,
		Short: "A constraint is retired, or says something else.",
		Help:  "Merge it only if the team wants that; another constraint is a new memory that supersedes the old one.",
	},
	{
		ID: "loss", Level: finding.Error,
		Short: "Much of the memory is put out of force at once.",
		Help:  "Look at each that goes, and make several changes of it if that is meant.",
	},
	{
		ID: "evidence", Level: finding.Note,
		Short: "Evidence is added for no memory of the same change.",
		Help:  "Ask for its origin: its evidence counts for a memory without review. Remove the file if the origin is unknown.",
	},
	{
		ID: "reference", Level: finding.Warning,
		Short: "A memory refers to one that is not there.",
		Help:  "Take the id out, or bring the memory along.",
	},
	{
		ID: "anchor", Level: finding.Note,
		Short: "The code that a memory rests on is no longer what it was.",
		Help:  "Look whether the statement still holds.",
	},
	{
		ID: "secret", Level: finding.Error,
		Short: "Text holds what looks like a secret.",
		Help:  "Take it out, also of the branch's history, and make the secret worthless: it was published.",
	},
	{
		ID: "injection", Level: finding.Error,
		Short: "Text looks like an attack on an agent that reads it.",
		Help:  "Say the fact without giving orders to a reader, and without the form of a chat, a tool call or a remote image.",
	},
	{
		ID: "hidden-text", Level: finding.Error,
		Short: "Text holds characters that a reader does not see.",
		Help:  "Take them out.",
	},
	{
		ID: "ci-file", Level: finding.Error,
		Short: "A file changes that decides what a pull request is checked by.",
		Help:  "Read it as you would read code that runs on your machines. 'reverie init --ci' writes the file that is known here.",
	},
	{
		ID: "size", Level: finding.Error,
		Short: "A change has more files than are looked at.",
		Help:  "Make several changes of it.",
	},
	{
		ID: "restriction", Level: finding.Error,
		Short: "A restriction that the team agreed on is loosened.",
		Help:  "Merge it only if the team wants that.",
	},
}
