"""What is a secret and what only speaks of one; the rest of a text stays as it was."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_core.text.secrets import redact, redact_json

# Assembled here, so that no scanner takes this file for a leak.
SK = "sk-" + "TEST1234567890abcdef"
GITHUB = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3"
AWS = "AKIA" + "QWERTYUIOP123456"
SLACK = "xoxb-" + "123456789012-abcdefABCDEF"
JWT = "eyJ" + "hbGciOiJIUzI1NiJ9." + "eyJ" + "zdWIiOiIxIn0." + "c2lnbmF0dXJl"
PEM = "-----BEGIN RSA PRIVATE " + "KEY-----\nMIIEow\nIBAAKC\n-----END RSA PRIVATE " + "KEY-----"

KEY, TOKEN, PASSWORD, PRIVATE, CODE = (
    f"[redacted:{kind}]" for kind in ("api-key", "token", "password", "private-key", "code")
)

SECRETS = [
    # known by their shape
    (
        f"My key is {SK} and the db password is plum-Tree-88",
        f"My key is {KEY} and the db password is {PASSWORD}",
    ),
    (f"用{SK}调用", f"用{KEY}调用"),
    (f"push with {GITHUB}.", f"push with {TOKEN}."),
    (f"id {AWS}, region x", f"id {KEY}, region x"),
    (f'slack: "{SLACK}"', f'slack: "{TOKEN}"'),
    (f"cookie={JWT};", f"cookie={TOKEN};"),
    (f"Authorization: Bearer {'ab12' * 6}", f"Authorization: Bearer {TOKEN}"),
    ("Authorization: Basic YW5uOnBsdW0=", f"Authorization: Basic {PASSWORD}"),
    (f"before\n{PEM}\nafter", f"before\n{PRIVATE}\nafter"),
    (PEM[:60], PRIVATE),
    ("postgres://ann:s3cr3t@db.example.org:5432/x", f"postgres://ann:{PASSWORD}@db.example.org:5432/x"),
    ("redis://:plumtree@cache:6379", f"redis://:{PASSWORD}@cache:6379"),
    ("GET /v1?api_key=abc123def&q=tide", f"GET /v1?api_key={TOKEN}&q=tide"),
    # told
    ("password: plum-Tree-88", f"password: {PASSWORD}"),
    ("Password = 'two words'", f"Password = '{PASSWORD}'"),
    ("my password is swordfish.", f"my password is {PASSWORD}."),
    ("The wifi password for the cabin is blue42!", f"The wifi password for the cabin is {PASSWORD}!"),
    ("I changed my password to hunter2, ok?", f"I changed my password to {PASSWORD}, ok?"),
    ("use hunter2 as my password", f"use {PASSWORD} as my password"),
    ("login ann, password plum88", f"login ann, password {PASSWORD}"),
    ("DB_PASSWORD=plumtree", f"DB_PASSWORD={PASSWORD}"),
    ('{"dbPassword": "plum tree"}', f'{{"dbPassword": "{PASSWORD}"}}'),
    ("token=abc123def456", f"token={TOKEN}"),
    ("the access token is 9f3c2ab1d2e3", f"the access token is {TOKEN}"),
    ("SECRET_KEY: a1b2c3d4", f"SECRET_KEY: {KEY}"),
    ("client secret: Zx9-plum-00", f"client secret: {KEY}"),
    ("my PIN is 4821", f"my PIN is {CODE}"),
    ("密码是plumTree88没错", f"密码是{PASSWORD}没错"),
    ("数据库密码：plumtree，别外传", f"数据库密码：{PASSWORD}，别外传"),
    ("密码123456", f"密码{PASSWORD}"),
    ("我把密码改成了plum88。", f"我把密码改成了{PASSWORD}。"),
    ("口令是芝麻开门。", f"口令是{PASSWORD}。"),
    ("口令：“蓝色海豚42”", f"口令：“{PASSWORD}”"),
    ("用 hunter2 作为密码", f"用 {PASSWORD} 作为密码"),
    ("API密钥是ab12cd34ef", f"API密钥是{KEY}"),
    ("验证码482913，五分钟有效", f"验证码{CODE}，五分钟有效"),
    ("访问令牌: ab12cd34ef56", f"访问令牌: {TOKEN}"),
    ("the admin pass is plum-Tree-88", f"the admin pass is {PASSWORD}"),
    ("My pass for the router is plum-Tree-88.", f"My pass for the router is {PASSWORD}."),
    ("login ann, pass plum88", f"login ann, pass {PASSWORD}"),
    ("we set the root pass to plum-Tree-88", f"we set the root pass to {PASSWORD}"),
    ("DB_PASS=plumtree", f"DB_PASS={PASSWORD}"),
    ("the password I use is plum-Tree-88", f"the password I use is {PASSWORD}"),
    ("the password, by the way, is plum-Tree-88", f"the password, by the way, is {PASSWORD}"),
    ("the password's plum-Tree-88", f"the password's {PASSWORD}"),
    ("the login is ann / plum-Tree-88", f"the login is ann / {PASSWORD}"),
    ("the credentials are ann and plum-Tree-88", f"the credentials are ann and {PASSWORD}"),
    ("管理员pass是plum88", f"管理员pass是{PASSWORD}"),
    ("账号ann，密码plum-Tree-88", f"账号ann，密码{PASSWORD}"),
    ("账号密码分别是 ann 和 plum-Tree-88", f"账号密码分别是 ann 和 {PASSWORD}"),
    ("我的登录密码，是plum88", f"我的登录密码，是{PASSWORD}"),
    ("密码就是plum88", f"密码就是{PASSWORD}"),
    ("密码用的是 plum-Tree-88", f"密码用的是 {PASSWORD}"),
    ("WiFi密码的话是plum88", f"WiFi密码的话是{PASSWORD}"),
    ("门禁码是4821#", f"门禁码是{PASSWORD}"),
    ("提取码：x7k2", f"提取码：{PASSWORD}"),
    # two at once
    ("password: plum88 and token: abc123def", f"password: {PASSWORD} and token: {TOKEN}"),
]

ORDINARY = [
    "the pass is valid until Friday",
    "The pass is closed.",
    "The mountain pass is 2,300 m high",
    "the boarding pass is QX7431-B, seat 12A",
    "my bus pass: expires 2031-05-06",
    "my pass is due 2031-05-06",
    "tests pass: 124 of 130",
    "The second pass is O(n^2)",
    "first pass: v2.4.1 looks good",
    "the compile pass is loop-unroll-4",
    "we pass max_retries=5 to it",
    "our pass to python3.11-slim",
    "all tests pass in python3.11-slim",
    "Pass: tests/core/test_a52.py",
    "The password we agreed on was better",
    "the password's been reset twice",
    "login is slow and flaky-2",
    "密码是什么",
    "密码是 8 位以上",
    "密码是每三个月换一次",
    "密码的话是老问题",
    "密码，我觉得是个大问题",
    "用户名和密码是必填项",
    "门禁码今天失效",
    "提取码在邮件里",
    "这个pass是2024版",
    "pass 掉这个方案",
    "the password is wrong",
    "The password is required.",
    "password: must be eight characters long",
    "Password reset is broken",
    "**Password Manager**: use one",
    "passwords are hashed with a salt",
    "password = request.form['password']",
    "login(password=user_password)",
    "password=${DB_PASSWORD} or <password> or ****",
    "https://user:$PASSWORD@example.org",
    "my password is too short and I forgot it",
    "The secret is patience.",
    "the token limit is 4096 and max_tokens=4096",
    "a token bucket of 128 tokens",
    "The key is to practise; key=value",
    "sk-learn-and-pandas-for-everyone",
    "xoxb-your-slack-token",
    "commit 9f3c2ab1d2e3f4a5b6c7d8e9f0a1b2c3d4e5f607 fixed it",
    "id 3f2504e0-4f89-41d3-9a0c-0305e82c3301",
    "Gateway 9.4.1.2, sha256:9f3c2ab1",
    "see https://example.org/a:b@c/d and http://localhost:5000/x@y",
    "ann@example.org, call 13800001111",
    "密码是什么？",
    "密码是错误的",
    "密码：请联系管理员",
    "密码是八位的",
    "我忘记了密码，需要重置",
    "暗号对上了",
    "她的秘密是每天早起",
    "我们讨论了令牌桶算法和密钥交换",
    "这个项目的关键是坚持" * 200,
    "",
    "\ud83e\x00 password",
]


@pytest.mark.parametrize(("text", "expected"), SECRETS, ids=[f"{n}" for n, _ in enumerate(SECRETS)])
def test_a_secret_is_replaced_and_nothing_else(text: str, expected: str) -> None:
    found = redact(text)
    assert found.text == expected
    assert len(found.found) == expected.count("[redacted:")


@pytest.mark.parametrize(
    "text", ORDINARY, ids=[text[:40].encode("ascii", "replace").decode() for text in ORDINARY]
)
def test_ordinary_words_stay(text: str) -> None:
    found = redact(text)
    assert found.text == text
    assert found.found == ()


def test_kinds_are_reported_in_order() -> None:
    assert redact(f"password: plum88, key {SK}").found == ("password", "api-key")


@pytest.mark.parametrize("text", [text for text, _ in SECRETS])
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = redact(text).text
    assert redact(once).text == once


def test_metadata_is_redacted_by_content_and_by_name() -> None:
    metadata = {
        "note": f"key {SK}",
        "api_key": "0123456789abc",
        "db": {"password": "plumtree", "pin": 4821, "user": "ann"},
        "list": ["token=abc123def", 5, None, True],
        "max_tokens": 512,
        "token": 7,
        "password_required": True,
    }
    assert redact_json(metadata) == {
        "note": f"key {KEY}",
        "api_key": KEY,
        "db": {"password": PASSWORD, "pin": PASSWORD, "user": "ann"},
        "list": [f"token={TOKEN}", 5, None, True],
        "max_tokens": 512,
        "token": 7,
        "password_required": True,
    }
    assert metadata["api_key"] == "0123456789abc", "the caller's object is not touched"


@given(st.text(max_size=200) | st.text(alphabet="password: =密码是sk-a1\"'[]@/", max_size=120))
def test_any_text_is_redacted_once(text: str) -> None:
    found = redact(text)
    assert redact(found.text).text == found.text
    assert bool(found.found) is (found.text != text)


@pytest.mark.parametrize("unit", ["password ", "a:b@", "密码是", "sk-", "token=", "x" * 99 + " "])
def test_hostile_length_is_read_to_its_end(unit: str) -> None:
    """A pattern that backtracks would not end here within hours."""
    text = "password " + unit * (160_000 // len(unit)) + " and my key is sk-TEST1234567890abcdef"
    assert "sk-TEST1234567890abcdef" not in redact(text).text
