package reflect

import "github.com/reverie-memory/reverie/gitstore/record"

// Rules in Spanish, Portuguese, French, German and Italian. The detectors for English do not
// read them, so only what is plainest counts: a word that means from now on, or never and
// always before a verb of work, and a name to hold on to.

var (
	latinFromNow = lazy(`(?i)\b(?:a partir de (?:ahora|agora)|de ahora en adelante|daqui em diante|désormais|` +
		`dorénavant|à partir de maintenant|ab jetzt|ab sofort|künftig|d'ora in poi)\b`)
	latinAlways = lazy(`(?i)(?:^|[,;:.]\s*|\b(?:por favor|bitte|siempre|aquí|acá|ici) )(?:nunca|jamás|jamais|` +
		`nie(?: wieder)?|niemals|siempre|toujours|immer|sempre|mai)\s+(?:más |mehr |direkt |directamente |directement )?` +
		`(?:us\w+|hag\w+|hac\w+|edit\w+|toc\w+|toqu\w+|modif\w+|ejecut\w+|escrib\w+|utilis\w+|utiliz\w+|commit\w*|` +
		`push\w*|pouss\w+|fai\w+|faç\w+|faz\w+|écri\w+|lanc\w+|verwend\w*|benutz\w*|schreib\w*|änder\w*|test\w*|auf|in|` +
		`den|die|das|im|generar\w*|subi\w+)\b`)
	// latinHabit says how things are done: "las migraciones llevan siempre nombre", "acá se corren con docker".
	latinHabit = lazy(`(?i)\b(?:llevan|van|se \w+n|usamos|hacemos|corremos|ponemos|levam|vão|usamos|fazemos|sont|vont|` +
		`on (?:utilise|met|fait|lance|écrit)|werden|laufen|kommen|bekommen|heißen|wir (?:nutzen|verwenden|schreiben))\s+` +
		`(?:siempre|sempre|toujours|immer)\b|` +
		`\b(?:acá|aquí|aqui|en este repo|en este proyecto|neste projeto|ici|dans ce (?:dépôt|projet)|hier|in diesem (?:repo|projekt))\s+` +
		`(?:(?:siempre|sempre) )?(?:se (?:usa|corre|ejecuta|hace|escribe|pone|prueba|testea|lanza|trabaja|genera|llama)n?|usamos|hacemos|` +
		`corremos|on (?:utilise|met|fait|lance|écrit)|nutzen wir|verwenden wir|benutzen wir|schreiben wir)\b`)
	// latinBroken says that something is not as it should be.
	latinBroken  = lazy(`(?i)\b(?:rojo|rompen?|fallan?|error|mal|échouent?|plantent?|erreur|kaputt|rot|fehler|quebra|falham?)\b`)
	latinPassing = lazy(`(?i)\b(?:esta vez|por ahora|de momento|hoy|cette fois|pour l'instant|aujourd'hui|diesmal|` +
		`vorerst|erstmal|heute|desta vez|por enquanto|hoje|per ora|oggi)\b|\?|¿`)
	latinConcrete = lazy(`(?i)\b(?:commits?|tests?|branch|main|rama|archivos?|fichiers?|dateien?|kommentare?|` +
		`comentarios|commentaires|mensajes|messages|código|codigo|datenbank|produktiv\w*|migra\w+|api|ci|prod)\b`)
	latinProduct = lazy(`(?i)\b(?:usuario\w*|utilisateur\w*|nutzer|benutzer|bot[oó]n\w*|bouton\w*|pantalla|página|` +
		`seite|listado|clientes)\b`)
)

// latinRule tells whether a sentence in one of these languages lays down a rule.
func latinRule(s *sentence) (record.Kind, bool) {
	if !latinFromNow.MatchString(s.text) && !latinAlways.MatchString(s.text) && !latinHabit.MatchString(s.text) || latinPassing.MatchString(s.text) || latinProduct.MatchString(s.text) || latinBroken.MatchString(s.text) {
		return "", false
	}
	if !latinConcrete.MatchString(s.text) && !namesThing(s.text) {
		return "", false
	}
	return record.Convention, true
}
