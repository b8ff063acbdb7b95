# NOT RUN by the project's tests: only its syntax is checked.
# Template: make recipes fills in what stands between @ signs.
class Canceld < Formula
  desc "Deadlines, cancels and clean ends for stdio JSON-RPC servers"
  homepage "@HOMEPAGE@"
  url "@URL@"
  sha256 "@SHA256@"
  license "ISC"

  depends_on "pkgconf" => :build
  depends_on "jansson"
  depends_on "libev"

  def install
    # The linker of macOS has no -z.
    settings = OS.mac? ? ["HARDEN_LDFLAGS="] : []
    system "make", "install", "PREFIX=#{prefix}", "BASHDIR=#{bash_completion}", "ZSHDIR=#{zsh_completion}",
           "FISHDIR=#{fish_completion}", *settings
  end

  test do
    assert_equal "canceld #{version}", shell_output("#{bin}/canceld --version").chomp
    assert_equal "cancelctl #{version}", shell_output("#{bin}/cancelctl --version").chomp
    # The server reads all and answers nothing.
    request = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}'
    answer = pipe_output("#{bin}/canceld -d -t 100ms -- sh -c 'cat >&2'", "#{request}\n")
    assert_match '"cause":"timeout"', answer
  end
end
