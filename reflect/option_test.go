package reflect

import "testing"

const layout = "Roughly:\n\nA. **OpenSearch**: best ranking, one more service to run.\n" +
	"B) **Postgres full text** (tsvector + GIN): no new service.\nOption C: add a trigram index, slow to write\n\nI'd go with B."

func TestOptionByItsLetter(t *testing.T) {
	for said, want := range map[string]string{
		"yes go with B. nobody here can operate opensearch": "Use Postgres full text: nobody can operate opensearch.",
		"A, we already run it for the logs anyway":          "Use OpenSearch: we already run it for the logs anyway.",
		"option c because writes are rare in billing":       "Add a trigram index: writes are rare in billing.",
	} {
		wants(t, script{agent(layout), user(said)}, want)
	}
	wants(t, script{agent("有两种做法：A. 在主库加索引；B. 查归档库。B 要多一个连接。"), user("选 B 吧，主库 CPU 已经 80% 了，不能再加查询")},
		"查归档库：主库 CPU 已经 80% 了，不能再加查询。")
	wants(t, script{agent("方案一：改表结构\n方案二：加一张映射表"), user("可以，就用方案二，因为改表结构 DBA 要排两周")},
		"加一张映射表：因为改表结构 DBA 要排两周。")
}

func TestLetterThatDecidesNothing(t *testing.T) {
	for _, said := range []string{
		"go with B", "B", "go with B, then write the tests", "B. and please run the tests", "D, it is the simplest of them",
		"go with B for now, it is less work", "would B work, given that nobody can operate opensearch?",
	} {
		wants(t, script{agent(layout), user(said)})
	}
	wants(t, script{user("go with B, nobody can operate opensearch")})
	wants(t, script{agent(layout), user("hm, let me think"), agent("Sure."), user("go with B, nobody can operate opensearch")})
	wants(t, script{agent("A. tabs\nB. spaces\n\nAnd for the name:\nA. lower case\nB. upper case"), user("B, the linter only knows that")})
}
